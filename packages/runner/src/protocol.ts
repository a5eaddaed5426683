/**
 * All that crosses the border between the main thread and its workers: plain data only. A child process is spoken to
 * in the same words (child-protocol.ts), because inside it the same thread does the work.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ErrorCode } from '@q/schema'
import type { Causes } from '@q/schema/json'
import type { OptionData } from '@q/task'
import type { AbortReason } from './pulse-layout.ts'

export interface WorkerSetup {
  /** file: URLs of task modules. */
  readonly taskModules: readonly string[]
  /** pulse-layout.ts */
  readonly pulse: SharedArrayBuffer
}

export type Order = { readonly kind: 'describe' } | RunOrder

export interface RunOrder {
  readonly kind: 'run'
  readonly runId: string
  readonly fence: number
  readonly epoch: number
  readonly attempt: number
  readonly task: string
  /** JSON text. */
  readonly payload: string
  /** JSON text of what an earlier attempt saved, or null. */
  readonly checkpoint: string | null
  /** Set only for tasks with `database: true`: the URL contains the password. */
  readonly databaseUrl?: string
  /** Index of the pulse slot this run beats into. */
  readonly slot: number
}

/** What a worker found in the task modules. */
export interface Description {
  readonly tasks: readonly TaskDescription[]
  readonly problems: readonly Problem[]
}

export interface TaskDescription {
  readonly name: string
  readonly queue: string
  readonly options: OptionData
  readonly payloadSchema: Record<string, unknown> | null
}

export interface Problem {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
  /** Of the error behind it. */
  readonly stack?: string
}

export type RunReport =
  /** `result`: JSON text, already fit for jsonb; `repaired`: where that changed it, as JSON pointers. */
  | { readonly ended: 'returned'; readonly result: string; readonly repaired: readonly string[] }
  | (Causes & {
      readonly ended: 'failed'
      readonly code: ErrorCode
      readonly detail: string
      readonly stack?: string
      /** Undefined: as the task's `retry` says. */
      readonly again?: 'never' | { readonly afterMs: number }
    })
  /** The thread or process died of it. */
  | { readonly ended: 'crashed'; readonly code: 'WORKER_CRASHED' | 'OUT_OF_MEMORY'; readonly detail: string }
  | { readonly ended: 'snoozed'; readonly afterMs: number }
  /** The code stopped on request; `reason`: of the main thread, or of its own thread or child. */
  | { readonly ended: 'aborted'; readonly reason?: AbortReason }

/** `said`: how many words the run said before; they come another way, and may come later. */
export interface Reported {
  readonly report: RunReport
  readonly said: number
}

/** A thread's first words: who it is, and where it hears answers. */
export interface Hello {
  readonly kind: 'hello'
  readonly threadId: number
  /** Of the operating system; 0 where it cannot be told. */
  readonly osThreadId: number
  readonly port: MessagePort
}

/** What a thread says while it executes. `key`: of which run, so that a word that comes late is not taken for another's. */
export type Said = { readonly key: string } & SaidBody

export type SaidBody =
  /** An error outside of the function's own promise: its run ends with this, and the thread with it. */
  | { readonly kind: 'last-words'; readonly report: RunReport }
  | { readonly kind: 'log'; readonly line: TaskLine }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: Ask }

export interface TaskLine {
  /** Counted from 1 within one claim. */
  readonly lineNo: number
  /** As pino counts: 20 debug, 30 info, 40 warn, 50 error. */
  readonly level: number
  readonly line: string
  /** JSON text. */
  readonly facts: string | null
  /** By the clock of this machine. */
  readonly atMs: number
}

/** What a run's code asks of the store, which only the main thread reaches. */
export type Ask =
  /** `state`: JSON text. */
  | { readonly verb: 'checkpoint'; readonly state: string }
  | {
      readonly verb: 'enqueue'
      readonly task: string
      /** JSON text. */
      readonly payload: string
      readonly delayMs: number | null
      readonly priority: number | null
    }

export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: string }
  | { readonly id: number; readonly ok: false; readonly refusal: Problem }

export function orderKey(order: { readonly runId: string; readonly fence: number }): string {
  return `${order.runId}/${order.fence}`
}
