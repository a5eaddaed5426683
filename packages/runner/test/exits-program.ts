/** A process with a thread that waits for a program; it exits when it gets a message. */
import type { RunId } from '@q/store'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { startThreads } from '../src/main/thread-pool.ts'
import { moduleUrl } from './module-url.ts'

const seconds = Number(process.argv[2])
const board = createPulseBoard(1)
const threads = startThreads(
  { threads: 1, memoryLimitMb: null },
  { taskModules: [moduleUrl('stubborn')], pulse: board.memory },
)
const lease = { runId: '1' as RunId, fence: 1 }
const facts = { lease, task: 'naps', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
const pulse = board.open(facts, 0, 0)
const order = {
  seq: pulse.seq,
  fenced: false,
  ...lease,
  epoch: 1,
  attempt: 1,
  task: 'naps',
  payload: JSON.stringify({ seconds }),
  checkpoint: null,
  databaseUrl: undefined,
} as const
void threads.run(order, { pulse, terminate: new AbortController().signal, hear: () => {} }).report
process.once('message', () => process.exit(7))
