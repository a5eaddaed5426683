/**
 * What a runner and its child processes say to each other over IPC: plain data only. A child's main thread passes on
 * what its one worker thread beats, says and reports, so the runner hears the same as from a thread of its own.
 */
import type { Answer, RunOrder, RunReport, Said } from './protocol.ts'
import type { AbortReason } from './pulse-layout.ts'

export type ToChild =
  | { readonly kind: 'setup'; readonly taskModules: readonly string[]; readonly memoryLimitMb: number | null }
  | { readonly kind: 'run'; readonly order: RunOrder; readonly fenceDeadlineMs: number }
  | { readonly kind: 'extend'; readonly fenceDeadlineMs: number }
  | { readonly kind: 'abort'; readonly reason: AbortReason }
  | { readonly kind: 'answer'; readonly answer: Answer }

export type FromChild =
  /** Its task modules are loaded. */
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'pulse' } & Relayed)
  | { readonly kind: 'said'; readonly said: Said }
  /** `spent`: it has kept so much memory that another run would have less than its limit. */
  | { readonly kind: 'report'; readonly report: RunReport; readonly spent: boolean }

/** How often a child looks at its pulse slot. */
export const relayEveryMs = 100

/** The child's pulse slot and figures, as its main thread sees them. */
export interface Relayed {
  /** By sharedClockMs(); null: the run has not begun. */
  readonly beganAtMs: number | null
  readonly ticks: number
  readonly signs: number
  readonly noticed: boolean
  readonly progress: number | null
  readonly note: string | null
  readonly cpuMs: number
  readonly heapMb: number | null
  readonly eventLoopUse: number | null
}
