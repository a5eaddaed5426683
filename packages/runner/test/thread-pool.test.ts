/** Worker threads, without a replica around them. */
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { RunId } from '@q/store'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { startThreads, untilGone } from '../src/main/thread-pool.ts'
import type { RunOrder } from '../src/protocol.ts'
import { moduleUrl } from './module-url.ts'

test('a run that is told to stop before a thread has it never begins, and its thread stays', async () => {
  const board = createPulseBoard(1)
  const threads = startThreads(
    { threads: 1, memoryLimitMb: null },
    { taskModules: [moduleUrl('stubborn')], pulse: board.memory },
  )
  onTestFinished(() => threads.close())
  const run = (task: string, isStopped: boolean) => {
    const lease = { runId: '1' as RunId, fence: 1 }
    const pulse = board.open({ lease, task, isolation: 'thread', timeoutMs: null, maxSilentMs: null }, 0, 0)
    if (isStopped) pulse.stop('cancelled')
    const order: RunOrder = {
      kind: 'run',
      ...lease,
      epoch: 1,
      attempt: 1,
      task,
      payload: '{}',
      checkpoint: null,
      slot: 0,
    }
    return threads.run(order, { pulse, terminate: new AbortController().signal, hear: () => {} }).report
  }
  const before = await run('where', false)
  // Its code would never end.
  expect(await run('endless', true)).toEqual({ ended: 'aborted' })
  expect(await run('where', false)).toEqual(before)
})

test('a thread is gone when it has exited, also if it dies of an error before that', async () => {
  const worker = new Worker("throw new Error('on the way')", { eval: true })
  const seen: string[] = []
  worker.on('error', () => seen.push('error'))
  worker.on('exit', () => seen.push('exit'))
  await untilGone(worker)
  expect(seen).toEqual(['error', 'exit'])
})
