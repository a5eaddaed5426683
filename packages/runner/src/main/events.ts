/** What observers are told. They may lose an event; nothing depends on them. */
import type { RunId } from '@q/store'

export type RunnerEvent =
  | {
      readonly type: 'run-started'
      readonly runId: RunId
      readonly task: string
      readonly attempt: number
      readonly thread: number
    }
  | {
      readonly type: 'run-ended'
      readonly runId: RunId
      readonly task: string
      readonly status: string
      readonly tookMs: number
      readonly code?: string
      readonly detail?: string
    }
  | { readonly type: 'lease-lost'; readonly runId: RunId; readonly task: string }
  | { readonly type: 'runs-released'; readonly runIds: readonly RunId[] }
  | { readonly type: 'runs-recovered'; readonly runIds: readonly RunId[] }
  | { readonly type: 'loop-failed'; readonly loop: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly type: 'settle-failed'; readonly error: unknown; readonly retryInMs: number }
  | { readonly type: 'listener-lost'; readonly error: Error | undefined }
  | { readonly type: 'draining'; readonly running: number; readonly drainMs: number }
  | { readonly type: 'drain-cut-short'; readonly running: number }
  | { readonly type: 'left-runs-behind'; readonly running: number; readonly tookMs: number }
  | { readonly type: 'drain-step-failed'; readonly error: unknown }
  | { readonly type: 'run-unfinished'; readonly error: unknown }
  | { readonly type: 'drained'; readonly tookMs: number }

export type Observe = (event: RunnerEvent) => void
