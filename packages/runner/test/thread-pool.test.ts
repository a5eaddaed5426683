/** Worker threads without a replica. */
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RunId } from '@q/store'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { startThreads } from '../src/main/executors/thread-pool.ts'
import { untilGone } from '../src/main/executors/served-thread.ts'
import type { ThreadMessage } from '../src/protocol/messages.ts'
import { commandOf, onThreads } from './executor-scene.ts'
import { eventually } from './fixture.ts'
import { moduleUrl } from './module-url.ts'

function oneThread(module: string) {
  const board = createRunMonitors(1)
  const threads = startThreads(
    { threads: 1, memoryLimitMb: null },
    { taskModules: [moduleUrl(module)], slotMemory: board.memory },
  )
  onTestFinished(() => threads.close())
  return (task: string, isStopped = false) => {
    const lease = { runId: '1' as RunId, fence: 1 }
    const monitor = board.open({ lease, task, isolation: 'thread', timeoutMs: null, maxSilentMs: null }, 0, 0)
    if (isStopped) monitor.stop('cancelled')
    return threads.run(commandOf(monitor), { monitor, terminate: new AbortController().signal, onMessage: () => {} })
      .report
  }
}

test('a run that is stopped before a thread takes it never begins, and its thread stays', async () => {
  const run = oneThread('stubborn')
  const before = await run('where')
  // Its code would never end.
  expect(await run('endless', true)).toEqual({ ended: 'aborted', reason: 'cancelled' })
  expect(await run('where')).toEqual(before)
})

test('errors of a module outside any run end no thread and do not flood the log', async () => {
  const printed = vi.spyOn(process.stderr, 'write')
  onTestFinished(() => printed.mockRestore())
  const run = oneThread('throws-by-itself')
  const whereAmI = async () => {
    const report = await run('where')
    return report.ended === 'returned' ? (JSON.parse(report.result) as { threadId: number; thrown: number }) : undefined
  }
  const first = await eventually(whereAmI, 'a thread answers')
  const later = await eventually(async () => {
    const now = await whereAmI()
    return now !== undefined && (now.threadId !== first.threadId || now.thrown > first.thrown + 40) ? now : undefined
  }, 'the module throws again and again')
  expect(later.threadId).toBe(first.threadId)
  const text = () => printed.mock.calls.join('\n')
  await eventually(() => (text().includes('are not printed') ? true : undefined), 'further errors are not printed')
  expect(text().match(/Uncaught error in code of a run/g)).toHaveLength(20)
})

test('a thread counts as gone only after it has exited, even if it dies of an error before', async () => {
  const worker = new Worker("throw new Error('on the way')", { eval: true })
  const seen: string[] = []
  worker.on('error', () => seen.push('error'))
  worker.on('exit', () => seen.push('exit'))
  await untilGone(worker)
  expect(seen).toEqual(['error', 'exit'])
})

test('code that replaces clocks and timers does not keep its thread from the runs after it', async () => {
  const { send } = onThreads('replaces-clocks')
  const messages: ThreadMessage[] = []
  expect(await send('fakeTimers', { onMessage: (message) => void messages.push(message) }).result()).toBeNull()
  expect(messages).toMatchObject([{ kind: 'log', line: { line: 'replaced', atMs: expect.any(Number) } }])
  for (let count = 0; count < 2; count++) expect(await send('busy').result()).toBe('done')
})

test('a tracer that throws neither stops the thread nor loses a result', async () => {
  const { send } = onThreads('traces-badly')
  expect(await send('unbegun').report).toMatchObject({ code: 'TASK_ERROR', detail: 'Error: the exporter is broken' })
  expect(await send('unended').result()).toBe('unended')
})
