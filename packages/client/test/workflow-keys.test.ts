/** A step and a run that is no step have the same concurrency key if their payloads say the same. */
import { afterAll, expect, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { optionData, runSettings } from '@q/task'
import { testDatabase } from '@q/testing'

const database = await testDatabase()
const { db, close } = connect(database.url, { purpose: 'pool' })
const store = createStore(db)
afterAll(async () => {
  await close()
  await database.drop()
})

const payloads = [
  { k: 'text' },
  { k: 7 },
  { k: '7' },
  { k: 'json:7' },
  { k: false },
  { k: Array.from({ length: 300 }, (_, n) => n) },
  { k: { b: 1, a: [true, null] } },
  { k: 'x'.repeat(300) },
  { k: '' },
  { k: null },
  {},
]

test.each(payloads)('the key of %j', async (payload) => {
  const lane = await store.internLane({ queue: 'default', task: 'keyed' })
  const published = optionData({ concurrency: { key: '/k' } })
  const [run] = await store.enqueueTaskRuns([
    { task: 'keyed', lane, payload, ...runSettings('keyed', published, payload) },
  ])
  const { steps } = await store.startWorkflow({
    plan: { name: 'keys', steps: [{ kind: 'task', name: 'a', task: 'keyed', payload: { value: payload, holes: {} } }] },
    input: null,
    tasks: { keyed: { lane, concurrency: { scope: 'keyed', at: '/k' } } },
  })
  const keys = await db
    .selectFrom('q.task_run')
    .select(['concurrency_key', 'concurrency_scope'])
    .where('id', 'in', [run!.id, steps[0]!.runId])
    .execute()
  expect(keys).toHaveLength(2)
  expect(keys[0]).toEqual(keys[1])
})
