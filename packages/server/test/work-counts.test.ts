/** Counts of the runs of workers over HTTP. */
import { afterAll, expect, test } from 'vitest'
import { serverScene } from './scene.ts'
import { workScene, type Lease } from './work-scene.ts'

const scene = await serverScene()

afterAll(() => scene.close())

const { store, db } = scene

const { newWorker, busyWorker } = workScene(scene)

/** Summed over the minutes in which they were counted. */
async function talliesOf(task: string) {
  const rows = await db
    .selectFrom('q.run_tally')
    .select(['started', 'succeeded', 'failed'])
    .where('task', '=', task)
    .execute()
  const sum = (key: 'started' | 'succeeded' | 'failed') => rows.reduce((total, row) => total + row[key], 0)
  return { started: sum('started'), succeeded: sum('succeeded'), failed: sum('failed') }
}

test('runs of workers count once for rates, times and groups of errors', async () => {
  const first = await busyWorker()
  for (let time = 0; time < 2; time++) await first.write('finish', first.run, { resultText: '1' })
  const second = await busyWorker()
  await second.write('finish', second.run, { error: { message: 'broken', retry: 'never' } })
  expect(await talliesOf(first.task)).toEqual({ started: 1, succeeded: 1, failed: 0 })
  expect(await talliesOf(second.task)).toEqual({ started: 1, succeeded: 0, failed: 1 })
  const groups = await store.listErrorGroups({ task: second.task })
  expect(groups.items).toMatchObject([{ code: 'TASK_ERROR', message: 'broken', lastRunId: second.run.runId }])
})

test('counts of requests that arrive together are all added', async () => {
  const { task, claim, write } = newWorker()
  await claim({ limit: 0, slots: 10 })
  const lane = await store.internLane({ queue: 'default', task })
  await store.enqueueTaskRuns(Array.from({ length: 10 }, () => ({ task, lane, payload: {} })))
  const { data } = await claim({ limit: 10, slots: 10 })
  await Promise.all(data.runs.map((run: Lease) => write('finish', run, { resultText: '1' })))
  expect(await talliesOf(task)).toEqual({ started: 10, succeeded: 10, failed: 0 })
})
