/** Threads or child processes without a replica around them: runs are sent there by hand, into slots of a board. */
import { onTestFinished } from 'vitest'
import type { RunId } from '@q/store'
import { optionData } from '@q/task'
import { createProcesses } from '../src/main/process-pool.ts'
import { createPulseBoard, type Pulse } from '../src/main/pulse-board.ts'
import { startThreads } from '../src/main/thread-pool.ts'
import type { Hear, Workplace } from '../src/main/workplace.ts'
import type { RunOrder, RunReport } from '../src/protocol.ts'
import { moduleUrl } from './module-url.ts'

export interface Sent {
  readonly pulse: Pulse
  readonly report: Promise<RunReport>
  /** What it returned, as data. */
  readonly result: () => Promise<unknown>
}

export interface Scene {
  close(): Promise<void>
  send(task: string, options?: { slot?: number; payload?: unknown; hear?: Hear }): Sent
}

const slots = 2

export function onThreads(module: string, threads = 1): Scene {
  const board = createPulseBoard(slots)
  const setup = { taskModules: [moduleUrl(module)], pulse: board.memory }
  const pool = startThreads({ threads, memoryLimitMb: null }, setup)
  return scene(pool, board)
}

/** `tasks`: for which a child is kept. */
export function inProcesses(module: string, tasks: readonly string[], memoryLimitMb?: number): Scene {
  const board = createPulseBoard(slots)
  const setup = { taskModules: [moduleUrl(module)], pulse: board.memory }
  const pool = createProcesses({ ...setup, env: process.env, processesMax: 1 })
  const options = optionData({ isolation: 'process', ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }) })
  pool.keepWarm(tasks.map((name) => ({ name, queue: 'default', payloadSchema: null, options })))
  return scene(pool, board)
}

function scene(pool: Workplace, board: ReturnType<typeof createPulseBoard>): Scene {
  let runs = 0
  onTestFinished(() => pool.close())
  return {
    close: () => pool.close(),
    send(task, { slot = 0, payload = {}, hear = () => {} } = {}) {
      const lease = { runId: String(++runs) as RunId, fence: 1 }
      const pulse = board.open({ lease, task, isolation: 'thread', timeoutMs: null, maxSilentMs: null }, slot, 0)
      const order: RunOrder = {
        seq: pulse.seq,
        fenced: false,
        ...lease,
        epoch: 1,
        attempt: 1,
        task,
        payload: JSON.stringify(payload),
        checkpoint: null,
        databaseUrl: undefined,
      }
      const { report } = pool.run(order, { pulse, terminate: new AbortController().signal, hear })
      return { pulse, report, result: () => report.then(returned) }
    },
  }
}

function returned(report: RunReport): unknown {
  if (report.ended === 'returned') return JSON.parse(report.result)
  throw new Error(`it did not return: ${JSON.stringify(report)}`)
}
