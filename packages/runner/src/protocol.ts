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

/** What Piscina is asked for: a look at the task modules, or a thread that is served runs for the rest of its life. */
export type ThreadJob = { readonly kind: 'describe' } | ServeJob

export interface ServeJob {
  readonly kind: 'serve'
  /** Of the pulse memory. */
  readonly slot: number
  /** ring-layout.ts */
  readonly ring: SharedArrayBuffer
  readonly port: MessagePort
}

export interface RunOrder {
  /** The number of the run in its slot: counted from 1, never used again. */
  readonly seq: number
  /** Whether other replicas may start the run, or its successor, once they consider this replica dead. */
  readonly fenced: boolean
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
  readonly databaseUrl: string | undefined
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

/** To a thread: runs to execute, as one flat array (thread-batch.ts), or the answer to what a run asked. */
export type ToThread = readonly unknown[] | Answer

/** From a thread. `seq`: of which run, so that a message that comes late is not taken for another run's. */
export type FromThread =
  /** Its first message. `osThreadId`: of the operating system; 0 where the system does not report it. */
  | { readonly kind: 'hello'; readonly threadId: number; readonly osThreadId: number }
  /** Runs have ended, or none is left: look at the ring. */
  | { readonly kind: 'signal' }
  /** The end of a run, where the ring has no place for it. */
  | { readonly kind: 'report'; readonly seq: number; readonly report: RunReport }
  | Said

/** What the code of a run says while it runs. */
export type Said = { readonly seq: number } & SaidBody

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
