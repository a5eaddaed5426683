/**
 * Where a run is executed, whatever that is: a worker thread (thread-pool.ts) or a child process (process-pool.ts).
 * The one who sends a run there need not know which.
 */
import type { Answer, RunOrder, RunReport, Said } from '../protocol.ts'
import type { Measured, Pulse } from './pulse-board.ts'
import type { Requests } from './requests.ts'
import type { TaskLogs } from './task-logs.ts'

export interface Workplace {
  run(order: RunOrder, terms: Terms): Running
  close(): Promise<void>
}

export interface Terms {
  /** The run's pulse: whoever executes it beats into it, and obeys its abort. */
  readonly pulse: Pulse
  /** Aborts: end it by force. */
  readonly terminate: AbortSignal
  /** What the code says while it runs; `reply` answers what it asked. */
  readonly hear: Hear
}

export type Hear = (said: Said, reply: (answer: Answer) => void) => void

export interface Running {
  /** Resolves when the code cannot act any more; never rejects. */
  readonly report: Promise<RunReport>
  /** Undefined while it cannot be told. */
  measure(): Measured | undefined
}

/** Passes on what the code of a run says. */
export function hearing({ logs, requests }: { logs: TaskLogs; requests: Requests }, pulse: Pulse): Hear {
  return (said, reply) => {
    if (said.kind === 'log') logs.add(pulse.facts.task, { ...said.line, lease: pulse.lease })
    if (said.kind === 'ask') void requests(pulse, said.id, said.ask).then(reply)
  }
}
