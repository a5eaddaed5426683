/** The row of an action is written before the action, and its answer after it: neither claims what did not happen. */
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
beforeEach(async () => {
  scene.faults.length = 0
  await scene.db.deleteFrom('q.action').execute()
})
const { ask, tokens, db, store } = scene
const token = tokens.admin

await store.registerReplica(registration('aaa'))
await store.publishTasks('aaa', [{ name: 'hello', queue: 'default', options: {}, payloadSchema: null }])

const rows = async () => (await store.listActions({})).items.map(({ what, subject, answer }) => [what, subject, answer])
const pause = (queue: string) => ask('PUT', `/api/queues/${queue}/pause`, { token, body: { reason: 'a reason' } })
const isPaused = async (name: string) =>
  (await db.selectFrom('q.queue').select('paused_by').where('name', '=', name).execute()).some((one) => one.paused_by)

/** The database refuses these writes of a table during the test. */
async function refuse(writes: 'INSERT' | 'UPDATE' | 'INSERT OR UPDATE', table: 'q.action' | 'q.queue') {
  await sql`CREATE FUNCTION q.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused by the test''; END'`.execute(
    db,
  )
  await sql`CREATE TRIGGER refuse BEFORE ${sql.raw(writes)} ON ${sql.table(table)} FOR EACH ROW EXECUTE FUNCTION q.refuse()`.execute(
    db,
  )
  onTestFinished(async () => void (await sql`DROP FUNCTION q.refuse CASCADE`.execute(db)))
}

test('while an action is executed, its row says that it was asked for', async () => {
  const answering = await db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE q.queue IN ACCESS EXCLUSIVE MODE`.execute(tx)
    const answer = pause('slow')
    await expect.poll(rows).toEqual([['pause-queue', 'slow', 'asked']])
    return { answer }
  })
  expect(await answering.answer).toMatchObject({ status: 200 })
  expect(await rows()).toEqual([['pause-queue', 'slow', 'paused']])
})

test('nothing is done if its row cannot be written', async () => {
  const runs = () => db.selectFrom('q.task_run').select('id').execute()
  const before = await runs()
  await refuse('INSERT', 'q.action')
  expect(await pause('unaudited')).toMatchObject({ status: 500 })
  expect(await isPaused('unaudited')).toBe(false)
  const enqueue = await ask('POST', '/api/runs', { token, body: { task: 'hello' } })
  expect(enqueue.status).toBe(500)
  expect(await runs()).toEqual(before)
})

test('an action whose answer cannot be recorded is reported as done, and its row says that it was asked for', async () => {
  await refuse('UPDATE', 'q.action')
  expect(await pause('done')).toMatchObject({ status: 200 })
  expect(await isPaused('done')).toBe(true)
  expect(await rows()).toEqual([['pause-queue', 'done', 'asked']])
  expect(scene.faults.map(String)).toEqual([expect.stringContaining('refused by the test')])
})

test('an action that fails is not recorded as done', async () => {
  await refuse('INSERT OR UPDATE', 'q.queue')
  expect(await pause('failing')).toMatchObject({ status: 500 })
  expect(await rows()).toEqual([['pause-queue', 'failing', 'INTERNAL_ERROR']])
  expect(await ask('POST', '/api/runs/999999/cancel', { token })).toMatchObject({ status: 404 })
  expect((await rows())[0]).toEqual(['cancel', '999999', 'NOT_FOUND'])
})

test('no row contains the payload of a run, at no time', async () => {
  await refuse('UPDATE', 'q.action')
  const body = { task: 'hello', payload: { name: 'of the payload' } }
  expect(await ask('POST', '/api/runs', { token, body })).toMatchObject({ status: 201 })
  expect(JSON.stringify(await store.listActions({}))).not.toContain('of the payload')
})
