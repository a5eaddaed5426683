/** POST /api/recover: what it recovers, and what it leaves alone while no heartbeat can be trusted. */
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, db, store, tokens } = scene
const token = tokens.admin

await store.registerReplica(registration('silent'))
await store.publishTasks('silent', [{ name: 'hello', queue: 'default', options: {}, payloadSchema: null }])

async function heldBy(replicaId: string): Promise<string> {
  await ask('POST', '/api/runs', { token, body: { task: 'hello' } })
  const [lease] = await store.claimAvailableTaskRuns({ replicaId, tasks: ['hello'], queues: [], limit: 1 })
  return lease!.runId
}

test('runs of silent nodes are named as left alone until `force` recovers them', async () => {
  const silent = await heldBy('silent')
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour'`.execute(db)
  await sql`UPDATE q.replica SET started_at = started_at - interval '1 hour'`.execute(db)
  await sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour' WHERE held`.execute(
    db,
  )
  const recover = (body: object) => ask('POST', '/api/recover', { token, body })
  const leftAlone = {
    ids: [silent],
    count: 1,
    why: expect.stringContaining('no heartbeat'),
    fix: expect.stringContaining('force'),
  }
  for (const dryRun of [true, false])
    expect((await recover({ dryRun })).data).toEqual({ dryRun, ids: [], count: 0, leftAlone, stuck: [], locked: [] })
  const neverAlive = await heldBy('never-alive')
  expect((await recover({ dryRun: true })).data).toMatchObject({ ids: [neverAlive], count: 1, leftAlone })
  expect((await recover({})).data).toMatchObject({ ids: [neverAlive], count: 1, leftAlone })
  expect((await recover({ force: true })).data).toMatchObject({ ids: [silent], count: 1, leftAlone: null })
  expect((await recover({})).data).toMatchObject({ ids: [], count: 0, leftAlone: null })
})

test('a stale run that another session has locked is named, and not taken for one that is left alone', async () => {
  const locked = await heldBy('never-alive')
  await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.task_run WHERE id = ${locked} FOR UPDATE`.execute(trx)
    expect((await ask('POST', '/api/recover', { token })).data).toMatchObject({
      ids: [],
      leftAlone: null,
      stuck: [],
      locked: [locked],
    })
  })
  expect((await ask('POST', '/api/recover', { token })).data).toMatchObject({ ids: [locked], locked: [] })
})

test('a stale run that the database refuses to change is named', async () => {
  const stuck = await heldBy('never-alive')
  await sql`CREATE FUNCTION q.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused by the test''; END'`.execute(
    db,
  )
  await sql`CREATE TRIGGER refuse BEFORE UPDATE ON q.task_run FOR EACH ROW EXECUTE FUNCTION q.refuse()`.execute(db)
  onTestFinished(async () => {
    await sql`DROP FUNCTION q.refuse CASCADE`.execute(db)
    await ask('POST', '/api/recover', { token })
  })
  expect((await ask('POST', '/api/recover', { token })).data).toMatchObject({
    ids: [],
    count: 0,
    leftAlone: null,
    stuck: [stuck],
  })
})
