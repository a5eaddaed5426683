/** Lines on their way to the store. */
import { expect, test } from 'vitest'
import type { RunId, Store } from '@q/store'
import { createTaskLogs } from '../src/main/execute/task-logs.ts'

test('an outcome waits for the log lines of its own run, and not for those of others', async () => {
  const { promise: written, resolve } = Promise.withResolvers<[]>()
  const logs = createTaskLogs({ appendTaskLogs: () => written } as Partial<Store> as Store, () => {})
  const [talker, other] = [
    { runId: '1' as RunId, fence: 1 },
    { runId: '2' as RunId, fence: 1 },
  ]
  logs.add('talks', { lineNo: 1, level: 30, line: 'l', facts: null, atMs: 0, lease: talker })
  let isTalkerDone = false
  const talkerDone = logs.written(talker).then(() => (isTalkerDone = true))
  await logs.written(other)
  expect(isTalkerDone).toBe(false)
  resolve([])
  await talkerDone
})
