/** Runs that no live replica can serve fail after a grace, if the setting asks for it. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { NewRun, RunId } from '@q/store'
import { fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, db, row } = await fixture()
const minute = 60_000
const grace = { graceMs: 30 * minute, gapMsMax: 5 * minute, limit: 1_000 }

async function gpuRun(task: string, more: Partial<NewRun> = {}): Promise<RunId> {
  const options = { requires: ['gpu'] }
  await store.publishTasks('publisher', [{ name: task, queue: task, options, payloadSchema: null }])
  const lane = await store.internLane({ queue: task, task, requires: ['gpu'] })
  const [run] = await store.enqueueTaskRuns([{ task, lane, payload: {}, ...more }])
  return run!.id
}

async function replica(task: string, capabilities: string[]): Promise<void> {
  await store.registerReplica({ ...introduction(`${task} ${capabilities.join()}`), tasks: [task], capabilities })
}

async function pass(ms: number): Promise<void> {
  const long = sql`${ms}::float8 * interval '1 ms'`
  await sql`UPDATE q.lane SET unserved_at = unserved_at - ${long}, unserved_seen_at = unserved_seen_at - ${long}`.execute(
    db,
  )
  await sql`UPDATE q.task_run SET updated_at = updated_at - ${long} WHERE finished_at IS NULL`.execute(db)
}

/** As replicas do: a look every few minutes. */
async function lookFor(ms: number): Promise<RunId[]> {
  const failed = await store.failUnroutableTaskRuns(grace)
  for (let passed = 0; passed < ms; passed += 4 * minute) {
    await pass(4 * minute)
    failed.push(...(await store.failUnroutableTaskRuns(grace)))
  }
  return failed
}

test('a run that no live replica could serve for the grace fails, whether it is ready or waits for its key', async () => {
  const concurrency = { scope: 'unroutable', key: 'k' }
  const ids = [
    await gpuRun('lonely'),
    await gpuRun('lonely', { concurrency }),
    await gpuRun('lonely', { delayMs: 9e9 }),
  ]
  await replica('lonely', [])
  expect(await lookFor(28 * minute)).toEqual([])
  expect(new Set(await lookFor(4 * minute))).toEqual(new Set(ids.slice(0, 2)))
  const result = { code: 'UNROUTABLE', detail: 'No live replica could serve it for 1800 s.' }
  expect(await row(ids[0]!)).toMatchObject({ status: 'FAILED', result })
  expect(await row(ids[1]!)).toMatchObject({ status: 'FAILED', result })
  expect(await row(ids[2]!)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  const late = await gpuRun('lonely')
  expect(await lookFor(0)).toEqual([])
  await store.cancelTaskRuns([late])
})

test('a replica that can serve it ends the grace', async () => {
  const id = await gpuRun('served')
  await lookFor(28 * minute)
  await replica('served', ['gpu'])
  expect(await lookFor(60 * minute)).toEqual([])
  expect(await row(id)).toMatchObject({ status: 'AVAILABLE' })
})

test('after a gap between checks the grace begins again: replicas that return may serve the run soon', async () => {
  const id = await gpuRun('away')
  await lookFor(8 * minute)
  await pass(24 * 60 * minute)
  expect(await lookFor(28 * minute)).toEqual([])
  expect(await lookFor(4 * minute)).toEqual([id])
})

test('a run of a paused queue does not fail', async () => {
  const id = await gpuRun('paused')
  await store.pauseQueue('paused', 'ada')
  expect(await lookFor(60 * minute)).toEqual([])
  expect(await row(id)).toMatchObject({ status: 'AVAILABLE' })
})
