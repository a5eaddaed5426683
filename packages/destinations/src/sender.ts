/**
 * The interface that every kind of destination implements. The sender only sends; the outbox leases, orders, retries
 * and gives up reports. A sender never rejects: it returns an external error as a result.
 */
import type { Report } from './report.ts'

export interface Sender {
  /**
   * Sends reports, each about a different run, workflow or worker: the next report about the same one comes after this
   * one was delivered or given up. Returns one result for each, in the same order. A call that takes longer than 30 s
   * counts as failed, and the sender is closed and opened again; return `failed` for reports that do not fit into that
   * time.
   */
  send(reports: readonly Report[]): Promise<readonly SendResult[]>
  /** Sends a harmless message, to test settings, secrets and network. */
  test(): Promise<SendResult>
  close(): Promise<void>
}

export type SendResult =
  | { readonly kind: 'delivered' }
  /** Worth another try, at the earliest after `retryAfterMs`. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number }
  /** Not tried yet, because a limit on the rate is reached or the receiver pauses. It does not count as a try. */
  | { readonly kind: 'postponed'; readonly error: string; readonly retryAfterMs: number }
  /** Another try would fail too: the report is given up. */
  | { readonly kind: 'rejected'; readonly error: string }

export interface SenderContext {
  /** The name of the destination. */
  readonly name: string
  readonly settings: Settings
  /** The value of an environment variable. Settings name variables and files that hold secrets, never secrets. */
  readonly env: (variable: string) => string | undefined
  readonly state: SenderState
  readonly nowMs: () => number
  readonly log: (level: 'info' | 'warn', facts: Readonly<Record<string, unknown>>, sentence: string) => void
}

export type Settings = Readonly<Record<string, unknown>>

/** The stored state of a sender, shared by all replicas: ids of comments, for example. */
export interface SenderState {
  get(key: string): Promise<string | undefined>
  put(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
  readonly shared: SharedState
  /** Whether it lasts no longer than the process: an earlier process may have written what this one does not remember. */
  readonly isBrief?: boolean
}

/** The state that the senders of all destinations share, for example how much was written to a repository. */
export interface SharedState {
  get(key: string): Promise<string | undefined>
  /** Replaces the value unless it has changed since it was read. Returns whether it did. */
  replace(key: string, change: SharedChange): Promise<boolean>
}

export interface SharedChange {
  /** Undefined: there was none. */
  readonly from: string | undefined
  readonly to: string
}

export interface DestinationKind {
  /** Every mistake in the settings, one sentence each. Empty: none. */
  readonly problemsOf: (settings: Settings) => readonly string[]
  /** Settings that start programs or decide where tokens are sent: requests over HTTP must not set them. */
  readonly localSettings: readonly string[]
  readonly open: (context: SenderContext) => Promise<Sender>
  /** The most batches of this destination that all replicas together may have in flight. */
  readonly inFlightMax: number
  /** The most reports per `send`. */
  readonly batchMax: number
}
