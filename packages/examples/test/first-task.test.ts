/** The first program anybody writes, run as it is: a producer in a process of its own, and a replica. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { replicaWith } from './replica.ts'

test('the two files of the first example run as they are typed', async () => {
  const { url, db, store } = await replicaWith(new URL('../src/first-task/tasks.ts', import.meta.url))
  const app = spawn(
    process.execPath,
    ['--conditions=@q/source', fileURLToPath(new URL('../src/first-task/app.ts', import.meta.url))],
    { env: { ...process.env, DATABASE_URL: url }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(app, 'close')
  const lines = createInterface({ input: app.stdout })[Symbol.asyncIterator]()
  const next = async () => String((await lines.next()).value)

  expect(await next()).toBe('Hello, Ada!')
  const id = (await next()) as RunId
  expect((await store.getTaskRun(id))?.run).toMatchObject({
    status: 'PENDING',
    waitingFor: 'time',
    queue: 'cpu',
    priority: -10,
    group: 'acme',
    maxAttempts: 5,
    onCrash: 'retry',
    concurrency: { key: 'https://example.org/cat.png' },
    uniqueKey: 'json:{"url":"https://example.org/cat.png"}',
  })

  // Five minutes pass.
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('id', '=', id)
    .execute()
  await store.promoteDueTaskRuns(1)
  await store.sweepGatedKeys(1)
  await store.wakeQueue('cpu')
  expect(await next()).toBe(String(800 * 600))
  expect(await ended).toEqual([0, null])
})
