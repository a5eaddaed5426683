import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '@q/store'
import { upsertReplicaHeartbeat } from '../src/heartbeats/beat-replica.ts'
import { fixture } from './fixture.ts'
import { holders, stats } from './holders.ts'

const scene = await fixture()
const { store, db, url } = scene
const { holding, age } = holders(scene)
/** A reaper that has just started: it may apply no threshold by its own heartbeats. */
const newcomer = { by: 'newcomer', thresholdMsMax: 0, sharedMsMax: Number.POSITIVE_INFINITY }

const beat = () => store.upsertReplicaHeartbeat('witness', stats)

/** As if the server had accepted heartbeats for so long, the last one so long ago. */
async function streak(unbrokenForMs: number, lastAgoMs = 0): Promise<void> {
  await beat()
  const ago = (ms: number) => sql`clock_timestamp() - ${ms}::float8 * interval '1 ms'`
  await sql`UPDATE q.beat_streak SET last_beat = ${ago(lastAgoMs)}, good_since = array_fill(${ago(unbrokenForMs)}, ARRAY[12])`.execute(
    db,
  )
}

/** For gaps of more than 1, 2, 4, … seconds: whether the count of a streak of 10 minutes went on or began again. */
async function counts(): Promise<string[]> {
  const { rows } = await sql<{ isKept: boolean }>`
    SELECT since < clock_timestamp() - interval '5 min' AS "isKept"
    FROM q.beat_streak, unnest(good_since) WITH ORDINALITY AS t(since, k) ORDER BY k`.execute(db)
  return rows.map(({ isKept }) => (isKept ? 'kept' : 'begun again'))
}

test('a replica that has just started recovers runs once the server has accepted heartbeats for the whole threshold', async () => {
  const { id } = await holding('dead')
  await age('dead', 120_000)
  await streak(30_000)
  expect((await store.reap(newcomer)).ids).toEqual([])
  await streak(61_000)
  expect((await store.reap({ ...newcomer, sharedMsMax: 59_000 })).ids).toEqual([])
  expect((await store.reap(newcomer)).ids).toEqual([id])
})

test('a gap in which live replicas could not send heartbeats, and a last heartbeat that is too old, prevent a recovery', async () => {
  const { id } = await holding('gap')
  await age('gap', 120_000)
  // Longer than an interval of 10 s and a retry: several such gaps could age the heartbeats of a live replica by 60 s.
  await streak(600_000, 20_000)
  expect((await store.reap(newcomer)).ids).toEqual([])
  await beat()
  expect(await counts()).toEqual([...Array(5).fill('begun again'), ...Array(7).fill('kept')])
  expect((await store.reap(newcomer)).ids).toEqual([])
  await streak(600_000, 12_000)
  expect((await store.reap(newcomer)).ids).toEqual([id])
})

test.each([
  ['another life of the server', sql`server_start = server_start - interval '1 hour'`],
  ['a clock that stepped back', sql`last_beat = last_beat + interval '1 hour'`],
])('%s prevents a recovery, and restarts the count', async (what, change) => {
  const { id } = await holding(what)
  await age(what, 120_000)
  await streak(600_000)
  await sql`UPDATE q.beat_streak SET ${change}`.execute(db)
  expect((await store.reap(newcomer)).ids).toEqual([])
  await beat()
  expect(await counts()).toEqual(Array(12).fill('begun again'))
  expect((await store.reap(newcomer)).ids).toEqual([])
  await streak(61_000)
  expect((await store.reap(newcomer)).ids).toEqual([id])
})

test('no heartbeat waits for another one to be committed', async () => {
  await streak(600_000, 10_000)
  const other = connect(url, { purpose: 'control' })
  onTestFinished(() => other.close())
  await other.db.transaction().execute(async (trx) => {
    await upsertReplicaHeartbeat(trx, 'slow', stats)
    await beat()
  })
  expect((await counts()).at(-1)).toBe('kept')
})
