/**
 * The entry for tests: executes runs by the rules of a replica, without threads. It imports neither Piscina nor pino, so a
 * user's tests load neither.
 */
export {
  openInlineReplica,
  type InlineReplica,
  type InlineReplicaOptions,
  type OpenedGates,
} from './inline/inline-replica.ts'
export type { VirtualClock } from './inline/virtual-clock.ts'
export { inlineChannel } from './inline/inline-executor.ts'
export { decideOutcome, type OutcomeDecision, type Policy } from './main/execute/decide-outcome.ts'
export type { OnMessage } from './main/executors/executor.ts'
export type { RunCommand, RunReport, TaskLine } from './protocol/messages.ts'
export type { RunSlot } from './thread/run-slot.ts'
export { executeCommand } from './thread/execute-command.ts'
