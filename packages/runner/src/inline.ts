/**
 * The door for tests: the rules by which runs are executed and ended, without the threads. Reaches neither Piscina nor
 * pino, so that a user's tests load neither.
 */
export {
  openInlineReplica,
  type InlineReplica,
  type InlineReplicaOptions,
  type Opened,
} from './inline/inline-replica.ts'
export type { Calendar } from './inline/by-calendar.ts'
export { inlineLine } from './inline/inline-workplace.ts'
export { endOf, type End, type Policy } from './main/ends.ts'
export type { Hear } from './main/workplace.ts'
export type { RunOrder, RunReport, TaskLine } from './protocol.ts'
export type { WorkerPulse } from './thread/pulse.ts'
export { runOrder } from './thread/run-order.ts'
