/** All that crosses the border between the main thread and its workers: plain data only. */
import type { ErrorCode } from '@q/schema'

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
  readonly options: Record<string, unknown>
  readonly payloadSchema: Record<string, unknown> | null
  readonly onCrash: 'fail' | 'retry' | null
}

export interface Problem {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
}

export type RunReport =
  /** `result`: JSON text, already fit for jsonb; `repaired`: where that changed it, as JSON pointers. */
  | { readonly ended: 'returned'; readonly result: string; readonly repaired: readonly string[] }
  | { readonly ended: 'failed'; readonly code: ErrorCode; readonly detail: string; readonly stack?: string }
  /** The code stopped because we asked it to. */
  | { readonly ended: 'aborted' }
