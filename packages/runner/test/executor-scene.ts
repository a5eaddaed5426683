/** Threads or child processes without a replica: the test sends runs to them itself. */
import { onTestFinished } from 'vitest'
import type { RunId } from '@q/store'
import { optionData } from '@q/task'
import { createProcesses } from '../src/main/executors/process-pool.ts'
import type { RunMonitor } from '../src/main/liveness/run-monitor.ts'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { startThreads } from '../src/main/executors/thread-pool.ts'
import type { OnMessage, Executor } from '../src/main/executors/executor.ts'
import type { RunCommand, RunReport } from '../src/protocol/messages.ts'
import { moduleUrl } from './module-url.ts'

export interface Sent {
  readonly monitor: RunMonitor
  readonly report: Promise<RunReport>
  /** What it returned, as data. */
  readonly result: () => Promise<unknown>
}

export interface Scene {
  close(): Promise<void>
  send(task: string, options?: { slot?: number; payload?: unknown; onMessage?: OnMessage }): Sent
}

const slots = 2

export function onThreads(module: string, threads = 1): Scene {
  const board = createRunMonitors(slots)
  const setup = { taskModules: [moduleUrl(module)], slotMemory: board.memory }
  const pool = startThreads({ threads, memoryLimitMb: null }, setup)
  return scene(pool, board)
}

/** `tasks`: for which a child is kept. */
export function inProcesses(module: string, tasks: readonly string[], memoryLimitMb?: number): Scene {
  const board = createRunMonitors(slots)
  const setup = { taskModules: [moduleUrl(module)], slotMemory: board.memory }
  const pool = createProcesses({ ...setup, env: process.env, processesMax: 1 })
  const options = optionData({ isolation: 'process', ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }) })
  pool.keepWarm(tasks.map((name) => ({ name, queue: 'default', payloadSchema: null, options })))
  return scene(pool, board)
}

function scene(pool: Executor, board: ReturnType<typeof createRunMonitors>): Scene {
  let runs = 0
  onTestFinished(() => pool.close())
  return {
    close: () => pool.close(),
    send(task, { slot = 0, payload = {}, onMessage = () => {} } = {}) {
      const lease = { runId: String(++runs) as RunId, fence: 1 }
      const monitor = board.open({ lease, task, isolation: 'thread', timeoutMs: null, maxSilentMs: null }, slot, 0)
      const command = commandOf(monitor, JSON.stringify(payload))
      const { report } = pool.run(command, { monitor, terminate: new AbortController().signal, onMessage })
      return { monitor, report, result: () => report.then(returned) }
    },
  }
}

/** The command of the first attempt of a run. */
export function commandOf({ seq, lease, facts: { task } }: RunMonitor, payload = '{}'): RunCommand {
  return {
    seq,
    fenced: false,
    ...lease,
    epoch: 1,
    attempt: 1,
    task,
    payload,
    checkpoint: null,
    databaseUrl: undefined,
  }
}

function returned(report: RunReport): unknown {
  if (report.ended === 'returned') return JSON.parse(report.result)
  throw new Error(`it did not return: ${JSON.stringify(report)}`)
}
