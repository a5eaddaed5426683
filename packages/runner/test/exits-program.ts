/** A process with a thread that waits for a program; it exits when it gets a message. */
import type { RunId } from '@q/store'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { startThreads } from '../src/main/executors/thread-pool.ts'
import { moduleUrl } from './module-url.ts'

const seconds = Number(process.argv[2])
const board = createRunMonitors(1)
const threads = startThreads(
  { threads: 1, memoryLimitMb: null },
  { taskModules: [moduleUrl('stubborn')], slotMemory: board.memory },
)
const lease = { runId: '1' as RunId, fence: 1 }
const facts = { lease, task: 'naps', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
const monitor = board.open(facts, 0, 0)
const command = {
  seq: monitor.seq,
  fenced: false,
  ...lease,
  epoch: 1,
  attempt: 1,
  task: 'naps',
  payload: JSON.stringify({ seconds }),
  checkpoint: null,
  databaseUrl: undefined,
} as const
void threads.run(command, { monitor, terminate: new AbortController().signal, onMessage: () => {} }).report
process.once('message', () => process.exit(7))
