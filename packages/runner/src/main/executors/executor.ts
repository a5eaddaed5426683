/** The interface of everything that executes runs: worker threads (thread-pool.ts) and child processes (process-pool.ts). */
import type { ContextReply, RunCommand, RunReport, ThreadMessage } from '../../protocol/messages.ts'
import type { Usage } from '../liveness/run-evidence.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import type { ContextRequests } from '../execute/context-requests.ts'
import type { TaskLogs } from '../execute/task-logs.ts'

export interface Executor {
  run(command: RunCommand, options: ExecuteOptions): Execution
  close(): Promise<void>
}

export interface ExecuteOptions {
  /** The code writes signs of life into the monitor's slot, and reads the stop flag from it. */
  readonly monitor: RunMonitor
  /** Aborts to end the run by force. */
  readonly terminate: AbortSignal
  /** Receives the messages of the code while it runs; `reply` answers a request. */
  readonly onMessage: OnMessage
}

export type OnMessage = (message: ThreadMessage, reply: (answer: ContextReply) => void) => void

export interface Execution {
  /** Resolves when the code can no longer act; never rejects. */
  readonly report: Promise<RunReport>
  /** Undefined while usage cannot be measured. */
  measure(): Usage | undefined
}

/** Handles the messages of a run's code: log lines and requests. */
export function messageHandler(
  { logs, requests }: { logs: TaskLogs; requests: ContextRequests },
  monitor: RunMonitor,
): OnMessage {
  return (message, reply) => {
    if (message.kind === 'log') logs.add(monitor.facts.task, { ...message.line, lease: monitor.lease })
    if (message.kind === 'request') void requests(monitor, message.id, message.request).then(reply)
  }
}
