/**
 * What every kind of destination implements. A sender sends; the outbox leases, orders, retries and gives up. A sender never
 * rejects: an error of the outside world is a result.
 */
import type { Report } from './report.ts'

export interface Sender {
  /**
   * Sends reports, which are about different runs, workflows and workers: of each of them the next one comes when this one was
   * delivered or given up. Returns one result for each, in the same order. A call that takes longer than 30 s counts as failed,
   * and the sender is closed and opened again: rather return `failed` for the reports that were not sent in time.
   */
  send(reports: readonly Report[]): Promise<readonly SendResult[]>
  /** Sends something harmless, to find out whether settings, secrets and network are right. */
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

/** What a sender has to remember, shared by all replicas: ids of comments, for example. */
export interface SenderState {
  get(key: string): Promise<string | undefined>
  put(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
}

export interface DestinationKind {
  /** Every mistake in the settings, one sentence each. Empty: none. */
  readonly problemsOf: (settings: Settings) => readonly string[]
  /** Settings that start programs or decide where tokens are sent: requests over HTTP must not set them. */
  readonly localSettings: readonly string[]
  readonly open: (context: SenderContext) => Promise<Sender>
  /** How many batches of this destination all replicas together may have in flight. */
  readonly inFlightMax: number
  /** How many reports one `send` gets at most. */
  readonly batchMax: number
}
