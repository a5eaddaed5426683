/**
 * The messages between the main thread and its worker threads: plain data only. Child processes get the same
 * (child-messages.ts), because the same worker thread does the work inside them.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ErrorCode } from '@q/schema'
import type { Causes } from '@q/schema/json'
import type { OptionData } from '@q/task'
import type { EndedRun } from '@q/task/tracing'
import type { AbortReason } from './slot-layout.ts'

export interface WorkerSetup {
  /** file: URLs of task modules. */
  readonly taskModules: readonly string[]
  /** slot-layout.ts */
  readonly slotMemory: SharedArrayBuffer
}

/** The jobs that Piscina gets: to describe the task modules, or to serve runs for the rest of the thread's life. */
export type ThreadJob = { readonly kind: 'describe' } | ServeJob

export interface ServeJob {
  readonly kind: 'serve'
  /** Its place in the slot memory. */
  readonly slot: number
  /** ring-layout.ts */
  readonly ring: SharedArrayBuffer
  readonly port: MessagePort
}

export interface RunCommand {
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
  /** The trace context of its enqueue, if threads record spans. */
  readonly trace?: string | undefined
}

/** The result of loading the task modules. */
export interface Description {
  /** Whether a module has registered an OpenTelemetry SDK. */
  readonly tracing: boolean
  /** Whether that SDK also records a span for each run. */
  readonly tracesRuns: boolean
  readonly tasks: readonly TaskDescription[]
  readonly problems: readonly ExplainedProblem[]
}

export interface TaskDescription {
  readonly name: string
  readonly queue: string
  readonly options: OptionData
  readonly payloadSchema: Record<string, unknown> | null
}

export interface ExplainedProblem {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
  /** The stack of the underlying error. */
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
      /** Class of the error. */
      readonly errorName?: string
      /** A text that the code chose for all errors of this cause. */
      readonly fingerprint?: string
      /** Undefined: the task's `retry` decides. */
      readonly again?: 'never' | { readonly afterMs: number }
    })
  /** The error ended the thread or process. */
  | { readonly ended: 'crashed'; readonly code: 'WORKER_CRASHED' | 'OUT_OF_MEMORY'; readonly detail: string }
  | { readonly ended: 'snoozed'; readonly afterMs: number }
  /** The code stopped on request; `reason`: of the main thread, or of its own thread or child. */
  | { readonly ended: 'aborted'; readonly reason?: AbortReason }

/** To a thread: runs to execute, as one flat array (batch-encoding.ts), the reply to a request of a run, or runs whose spans to record. */
export type ToThread = readonly unknown[] | ContextReply | EndedRuns

/** Runs that ended, on whichever thread: one with an SDK records their spans. */
export interface EndedRuns {
  readonly endedRuns: readonly EndedRun[]
}

/** From a thread. `seq` identifies the run, so that a late message is not attributed to another run. */
export type FromThread =
  /** Its first message. `osThreadId`: of the operating system; 0 where the system does not report it. */
  | { readonly kind: 'handshake'; readonly threadId: number; readonly osThreadId: number }
  /** Runs have ended, or none is left: read the ring. */
  | { readonly kind: 'signal' }
  /** The report of a run that does not fit into the ring. */
  | { readonly kind: 'report'; readonly seq: number; readonly report: RunReport }
  | ThreadMessage

/** A message of the code of a run while it runs. */
export type ThreadMessage = { readonly seq: number } & ThreadMessageBody

export type ThreadMessageBody =
  /** An error outside of the function's own promise: its run ends with this, and the thread with it. */
  | { readonly kind: 'uncaught-error'; readonly report: RunReport }
  | { readonly kind: 'log'; readonly line: TaskLine }
  | { readonly kind: 'request'; readonly id: number; readonly request: ContextRequest }

export interface TaskLine {
  /** Counted from 1 within one claim. */
  readonly lineNo: number
  /** The levels of pino: 20 debug, 30 info, 40 warn, 50 error. */
  readonly level: number
  readonly line: string
  /** JSON text. */
  readonly facts: string | null
  /** By the clock of this machine. */
  readonly atMs: number
}

/** A request of a run's code to the store, which only the main thread reaches. */
export type ContextRequest =
  /** `state`: JSON text. */
  | { readonly verb: 'checkpoint'; readonly state: string }
  | {
      readonly verb: 'enqueue'
      readonly task: string
      /** JSON text. */
      readonly payload: string
      readonly delayMs: number | null
      readonly priority: number | null
      readonly trace?: string | undefined
    }

export type ContextReply =
  | { readonly id: number; readonly ok: true; readonly value: string }
  | { readonly id: number; readonly ok: false; readonly refusal: ExplainedProblem }
