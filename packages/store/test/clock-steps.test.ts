import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { fixture } from './fixture.ts'
import { holders, stats } from './holders.ts'

const scene = await fixture()
const { store, db } = scene
const { holding, age, clockMs } = holders(scene)
const reaper = { by: 'reaper' }

async function staleIds(): Promise<RunId[]> {
  return (await store.getStaleTaskRuns()).map((run) => run.id)
}

test('a clock step ahead makes no holder stale; a holder that was never alive is stale at any time', async () => {
  const { id } = await holding('jumped')
  await age('jumped', 120_000)
  const unknown = await holding('never')
  await db.deleteFrom('q.replica_heartbeat').where('replica_id', '=', 'never').execute()
  await db.deleteFrom('q.replica').where('id', '=', 'never').execute()
  expect((await store.reap({ ...reaper, clockMsMax: (await clockMs()) - 61_000 })).ids).toEqual([unknown.id])
  expect((await store.reap({ ...reaper, clockMsMax: (await clockMs()) + 3_600_000 })).ids).toEqual([id])
})

test('a clock that stepped back does not hide a dead holder: heartbeats, starts and claims from the future do not count', async () => {
  const { id } = await holding('stepped-back')
  await age('stepped-back', -3_600_000)
  expect(await store.getStaleTaskRuns()).toMatchObject([{ id, cause: 'replica-beat' }])
  expect((await store.listNodes()).find((node) => node.id === 'stepped-back')).toMatchObject({ state: 'stale' })
  await store.upsertReplicaHeartbeat('stepped-back', stats)
  expect(await store.getStaleTaskRuns()).toMatchObject([{ id, cause: 'runner-beat' }])
  expect((await store.reap(reaper)).ids).toEqual([id])
})

test('a heartbeat that is ahead of the clock by less than the threshold counts: a small step back makes no holder stale', async () => {
  const { id } = await holding('slightly-ahead')
  await age('slightly-ahead', -5_000)
  expect(await staleIds()).not.toContain(id)
  await age('slightly-ahead', 61_000)
  expect((await store.reap(reaper)).ids).toEqual([id])
})

test('a reaper that sees the clock step back judges no heartbeat in that statement', async () => {
  const { id } = await holding('before-the-step')
  await age('before-the-step', 120_000)
  expect((await store.reap({ ...reaper, clockMsMin: (await clockMs()) + 3_600_000 })).ids).toEqual([])
  expect((await store.reap({ ...reaper, clockMsMin: (await clockMs()) - 1_000 })).ids).toEqual([id])
})

test('a slow reaper with many stale runs recovers them all: they were stale when it asked', async () => {
  const { id } = await holding('slowly')
  await age('slowly', 120_000)
  expect((await store.reap({ ...reaper, clockMsMax: (await clockMs()) - 30_000 })).ids).toEqual([id])
})
