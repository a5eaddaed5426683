import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture } from '../fixture.ts'
import { fleetOf } from '../fleet.ts'

const its = await fixture()
const { store, db } = its
const fleet = fleetOf(its)

beforeEach(async () => {
  await fleet.disband()
  await sql`DELETE FROM q.task_run`.execute(db)
  await sql`DELETE FROM q.task`.execute(db)
})

async function missing(): Promise<string[]> {
  return (await store.unservedLanes()).map((lane) => lane.missing)
}

test('a lane with a ready run is named with what its nodes lack, and no longer when a node serves it', async () => {
  await fleet.join('n1', { tasks: [] })
  await fleet.publish('n1', 'render')
  const id = await fleet.enqueueIn({ queue: 'gpu-work', task: 'render', requires: ['gpu'] })
  await sql`UPDATE q.task_run SET run_at = clock_timestamp() - interval '10 minutes' WHERE id = ${id}`.execute(db)
  const [lane] = await store.unservedLanes()
  expect(lane).toMatchObject({
    queue: 'gpu-work',
    task: 'render',
    requires: ['gpu'],
    ready: { count: 1, atLeast: false },
    sampleRunId: id,
    missing: 'no node that knows render has gpu',
  })
  expect(lane!.oldestMs).toBeGreaterThanOrEqual(600_000)
  await fleet.join('n2', { tasks: ['render'], capabilities: ['gpu'], queues: ['elsewhere'] })
  expect(await missing()).toEqual(['no node that knows render has gpu'])
  await fleet.join('n3', { tasks: ['render'], capabilities: ['gpu'] })
  expect(await missing()).toEqual([])
})

test('each cause has its own sentence: no node, unknown task, other queue', async () => {
  await store.publishTasks('gone', [{ name: 'a', queue: 'default', options: {}, payloadSchema: null }])
  await fleet.enqueueIn({ queue: 'default', task: 'a' })
  expect(await missing()).toEqual(['no node is alive that claims runs'])
  await fleet.join('n1', { tasks: ['b'] })
  expect(await missing()).toEqual(['the only node that claims runs does not know the task a'])
  await fleet.join('n2', { tasks: ['a'], queues: ['elsewhere'] })
  expect(await missing()).toEqual(['no node that knows a works on the queue default'])
})

test('a task that no replica has published is named once, however many runs wait for it', async () => {
  await fleet.join('n1', { tasks: [] })
  const runs = await store.enqueueTaskRuns([
    { task: 'unheard-of', payload: {} },
    { task: 'unheard-of', payload: {} },
  ])
  expect(await store.unservedLanes()).toMatchObject([
    {
      queue: 'default',
      task: 'unheard-of',
      ready: { count: 2 },
      sampleRunId: runs[0]!.id,
      missing: 'no node has published the task unheard-of',
    },
  ])
})

test('a keyed run that no node serves is named although it waits for its key', async () => {
  await fleet.join('n1', { tasks: [] })
  await fleet.publish('n1', 'keyed')
  await fleet.disband()
  const lane = await store.internLane({ queue: 'default', task: 'keyed' })
  const keyed = { task: 'keyed', lane, payload: {}, concurrency: { scope: 'keyed', key: 'k' } }
  const [run] = await store.enqueueTaskRuns([keyed])
  expect(await store.unservedLanes()).toMatchObject([{ task: 'keyed', ready: { count: 1 }, sampleRunId: run!.id }])
})
