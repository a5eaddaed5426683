/**
 * The messages between a runner and its child processes over IPC: plain data only. A child's main thread relays the
 * signs of life, messages and reports of its one worker thread, so the runner receives the same as from its own threads.
 */
import type { ContextReply, RunCommand, RunReport, ThreadMessage } from './messages.ts'
import type { AbortReason, SlotReading } from './slot-layout.ts'

export type ToChild =
  | { readonly kind: 'setup'; readonly taskModules: readonly string[]; readonly memoryLimitMb: number | null }
  | { readonly kind: 'run'; readonly command: RunCommand; readonly fenceDeadlineMs: number }
  | { readonly kind: 'extend'; readonly fenceDeadlineMs: number }
  | { readonly kind: 'abort'; readonly reason: AbortReason }
  | { readonly kind: 'reply'; readonly reply: ContextReply }

export type FromChild =
  /** Its task modules are loaded. */
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'slot' } & Relayed)
  | { readonly kind: 'thread-message'; readonly threadMessage: ThreadMessage }
  /** `spent`: it has kept so much memory that another run would have less than its limit. */
  | { readonly kind: 'report'; readonly report: RunReport; readonly spent: boolean }

/** How often a child reads its slot. */
export const relayEveryMs = 100

/** The child's slot and its usage, as its main thread reads them. */
export interface Relayed extends SlotReading {
  readonly cpuMs: number
  readonly heapMb: number | null
  readonly eventLoopUse: number | null
}
