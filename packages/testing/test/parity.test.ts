/** What is executed inline ends as it ends on the threads of a real replica: the same tasks, both ways, compared. */
import { expect, test, vi } from 'vitest'
import { queue, type Queue } from '@q/client'
import { readConfig, startRunner } from '@q/runner'
import { connect, createStore, type RunId, type Store } from '@q/store'
import { testDatabase, testQueue } from '@q/testing'
import * as tasks from './tasks/everyday.ts'

const runs: [task: string, payload: object][] = [
  ['hello', { name: 'Ada' }],
  ['resize', { url: 'a' }],
  ['evenOnly', { number: 3 }],
  ['flaky', { from: 2 }],
  ['hopeless', {}],
  ['asksAgain', {}],
  ['waits', { until: 'then' }],
  ['strange', {}],
  ['noJson', {}],
  ['parent', { children: 2 }],
  ['slow', {}],
  ['silent', {}],
]

test('the first attempt of every kind of run has the same outcome, code, detail and checkpoint', async () => {
  expect(await inline()).toEqual(await onThreads())
})

async function inline(): Promise<unknown[]> {
  await using q = await testQueue({ tasks })
  const ids = await enqueueAll(q)
  await q.drain()
  return await withStore(q.url, (store) => Promise.all(ids.map((id) => firstAttempt(store, id))))
}

async function onThreads(): Promise<unknown[]> {
  await using database = await testDatabase()
  const runner = await startRunner({
    databaseUrl: database.url,
    config: readConfig({ Q_THREADS: '1' }),
    version: '0.0.0',
    taskModules: [import.meta.resolve('./tasks/everyday.ts')],
    observe: () => {},
  })
  const q = queue<typeof tasks>(database.url)
  try {
    const ids = await enqueueAll(q)
    return await withStore(database.url, async (store) => {
      const ended: unknown[] = []
      for (const id of ids) ended.push(await untilEnded(store, id))
      return ended
    })
  } finally {
    await q.close()
    await runner.drain()
  }
}

async function enqueueAll(q: Queue<typeof tasks>): Promise<RunId[]> {
  const ids: RunId[] = []
  for (const [task, payload] of runs) ids.push((await q.enqueue(task as 'hello', payload as never)).id)
  return ids
}

async function firstAttempt(store: Store, id: RunId): Promise<unknown> {
  const { run, attempts } = (await store.getTaskRun(id))!
  const [first] = attempts
  if (first === undefined || first.outcome === 'running') return undefined
  const { outcome, code, detail } = first
  const { task, maxAttempts, priority, checkpoint } = run
  const result = outcome === 'succeeded' ? run.result : null
  return { task, outcome, code, detail, result, maxAttempts, priority, checkpoint }
}

function untilEnded(store: Store, id: RunId): Promise<unknown> {
  const look = async () => (await firstAttempt(store, id)) ?? Promise.reject(new Error(`run ${id} has not ended`))
  return vi.waitFor(look, { timeout: 30_000, interval: 20 })
}

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const connection = connect(url, { purpose: 'control' })
  try {
    return await use(createStore(connection.db))
  } finally {
    await connection.close()
  }
}
