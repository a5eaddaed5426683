/** The shorter lists: errors, workflows, ticks of schedules, deliveries, heartbeat lanes. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store, db, enqueue, claimOne } = await fixture()

async function errorGroup(
  fingerprint: string,
  agoS: number,
  task = 'a',
  mutedForS: number | null = null,
): Promise<void> {
  await sql`INSERT INTO q.error_group (fingerprint, first_seen, last_seen, muted_until, muted_by, seen, last_run_id, code, name, message, tasks, versions)
    SELECT ${fingerprint}, now() - interval '1 day', now() - ${agoS}::int * interval '1 s', now() + ${mutedForS}::int * interval '1 s', 'ada', 5, 9,
      'TASK_ERROR', 'RangeError', 'no', ARRAY[${task}], '{1.0}'`.execute(db)
}

test('a page of error groups that stopped before it read all says how far it looked, and continues there', async () => {
  await sql`DELETE FROM q.error_group`.execute(db)
  await errorGroup('stop1', 1_000)
  await errorGroup('stop2', 2_000)
  await errorGroup('stop3', 3_000, 'rare')
  const task = 'rare'
  const stopped = await store.listErrorGroups({ task, look: 2 })
  expect(stopped).toMatchObject({ items: [], exhausted: false })
  expect(stopped.lookedBackTo).toEqual((await store.getErrorGroup('stop2'))?.lastSeen)
  const next = await store.listErrorGroups({ task, look: 1, cursor: stopped.next! })
  expect(next).toMatchObject({
    items: [{ fingerprint: 'stop3' }],
    exhausted: true,
    lookedBackTo: null,
    next: undefined,
  })
  await sql`DELETE FROM q.error_group`.execute(db)
})

test('error groups are listed by their last occurrence, in pages, by task and by whether they are muted', async () => {
  await errorGroup('aa11', 10)
  await errorGroup('aa22', 5, 'b')
  await errorGroup('bb33', 20, 'a', 3_600)
  await errorGroup('cc44', 30, 'a', -3_600)
  await sql`INSERT INTO q.error_tally SELECT 'aa11', date_trunc('hour', clock_timestamp()) - i * interval '1 hour', 10 + i
    FROM unnest('{0,2,30}'::int[]) i`.execute(db)
  const prints = async (request: Parameters<typeof store.listErrorGroups>[0] = {}) =>
    (await store.listErrorGroups(request)).items.map(({ fingerprint }) => fingerprint)
  expect(await prints()).toEqual(['aa22', 'aa11', 'bb33', 'cc44'])
  expect(await prints({ task: 'b' })).toEqual(['aa22'])
  expect(await prints({ muted: true })).toEqual(['bb33'])
  expect(await prints({ muted: false })).toEqual(['aa22', 'aa11', 'cc44'])
  const first = await store.listErrorGroups({ limit: 3 })
  expect(await prints({ cursor: first.next! })).toEqual(['cc44'])
  expect(first).toMatchObject({ exhausted: false, lookedBackTo: first.items.at(-1)?.lastSeen })
  expect(await store.listErrorGroups()).toMatchObject({ exhausted: true, lookedBackTo: null, next: undefined })
  await expect(store.listErrorGroups({ cursor: '12' })).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
  const group = (await store.getErrorGroup('aa1'))!
  expect(group).toMatchObject({
    name: 'RangeError',
    seen: 5,
    lastRunId: '9',
    tasks: ['a'],
    mutedUntil: null,
    mutedBy: null,
  })
  expect(group.hours).toHaveLength(24)
  expect(group.hours.filter(({ seen }) => seen > 0).map(({ seen }) => seen)).toEqual([12, 10])
  expect((await store.getErrorGroup('bb33'))!.mutedBy).toBe('ada')
  expect(await store.getErrorGroup('aa')).toBeUndefined()
  expect(await store.getErrorGroup('')).toBeUndefined()
})

test('workflows are listed newest first, by state and name, with the progress of their steps', async () => {
  const { rows } = await sql<{ id: string }>`INSERT INTO q.workflow (name, status, finished_at)
    VALUES ('build', 'RUNNING', NULL), ('deploy', 'SUCCEEDED', now()), ('build', 'PAUSED', NULL), ('build', 'FAILED', now()) RETURNING id`.execute(
    db,
  )
  const [running, deployed, paused, failed] = rows.map(({ id }) => id)
  await enqueue('step', { count: 2 })
  await sql`UPDATE q.task_run SET workflow_id = ${running} WHERE task = 'step'`.execute(db)
  await claimOne('step')
  const ids = async (request: Parameters<typeof store.listWorkflows>[0] = {}) =>
    (await store.listWorkflows(request)).items.map(({ id }) => id)
  expect(await ids()).toEqual([failed, paused, deployed, running])
  expect(await ids({ status: 'RUNNING' })).toEqual([running])
  expect(await ids({ status: 'FAILED' })).toEqual([failed])
  expect(await ids({ name: 'build', status: 'PAUSED' })).toEqual([paused])
  const first = await store.listWorkflows({ limit: 3 })
  expect(await store.listWorkflows({ cursor: first.next! })).toMatchObject({
    items: [{ id: running, steps: { RUNNING: 1, AVAILABLE: 1 }, progress: { ended: 0, total: 2 } }],
    next: undefined,
  })
})

test('the ticks of a schedule are listed newest first, with the states of their runs', async () => {
  const [older, newer] = await enqueue('ticked', { count: 2 })
  await sql`INSERT INTO q.schedule_tick VALUES ('nightly', now() - interval '1 day', ${older}), ('nightly', now(), ${newer}),
    ('nightly', now() - interval '2 days', 999999), ('other', now(), ${newer})`.execute(db)
  await store.cancelTaskRuns([older!])
  expect(await store.scheduleTicks('nightly')).toMatchObject([
    { runId: newer, status: 'AVAILABLE', code: null, finishedAt: null },
    { runId: older, status: 'CANCELLED', code: 'TASK_CANCELLED' },
  ])
  expect(await store.scheduleTicks('nightly', 1)).toHaveLength(1)
})

test('deliveries are listed newest first; only failed ones on request', async () => {
  await sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at, delivered_at, attempts, last_error)
    VALUES ('hook', 'run-ended', 's1', '{}', NULL, NULL, 9, 'ECONNREFUSED'), ('hook', 'run-ended', 's2', '{}', NULL, now(), 1, NULL),
      ('hook', 'status', 's3', '{}', now(), NULL, 0, NULL)`.execute(db)
  const all = await store.listDeliveries()
  expect(all.items.map(({ kind }) => kind)).toEqual(['status', 'run-ended', 'run-ended'])
  const { items } = await store.listDeliveries({ givenUp: true })
  expect(items).toMatchObject([
    { destination: 'hook', attempts: 9, lastError: 'ECONNREFUSED', dueAt: null, runId: null },
  ])
  expect((await store.listDeliveries({ limit: 2, cursor: all.items[0]!.id })).items).toEqual(all.items.slice(1))
})

test('a heartbeat lane shows a node within the window, with its gaps and events', async () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))
  await store.registerReplica(introduction('lane1', 'eu-1'))
  await store.registerReplica(introduction('lane2', 'eu-0'))
  await store.registerReplica(introduction('lane3', 'eu-2'))
  await sql`UPDATE q.replica SET started_at = ${at(0)}, stopped_at = ${at(50)}, draining_at = ${at(45)}, draining_by = 'ada' WHERE id = 'lane1'`.execute(
    db,
  )
  await sql`UPDATE q.replica SET started_at = ${at(20)} WHERE id = 'lane2'`.execute(db)
  await sql`UPDATE q.replica SET started_at = ${at(0)}, stopped_at = ${at(5)} WHERE id = 'lane3'`.execute(db)
  await sql`INSERT INTO q.beat_gap VALUES ('lane1', ${at(15)}, ${at(17)}), ('lane1', ${at(1)}, ${at(2)})`.execute(db)
  await sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error) VALUES ('lane1', ${at(16)}, 3, 'ECONNRESET')`.execute(
    db,
  )
  await sql`INSERT INTO q.recovery (run_id, fence, recovered_at, was, became, cause, replica_id, recovered_by)
    VALUES (7, 1, ${at(46)}, 'RUNNING', 'FAILED', 'presence', 'lane1', 'eu-0'), (8, 1, ${at(1)}, 'RUNNING', 'FAILED', 'presence', 'lane1', 'eu-0')`.execute(
    db,
  )
  await sql`INSERT INTO q.task_event (run_id, fence, kind, happened_at, replica_id) VALUES (7, 1, 'refused-settle', ${at(47)}, 'lane1'),
    (7, 1, 'claim-released', ${at(47)}, 'lane1')`.execute(db)
  const lanes = await store.heartbeatLanes({ from: at(10), to: at(55) })
  expect(lanes).toMatchObject([
    { replicaId: 'lane2', name: 'eu-0', state: 'alive', from: at(20), to: at(55), staleAfterMs: 60_000, gaps: [] },
    {
      replicaId: 'lane1',
      name: 'eu-1',
      state: 'stopped',
      from: at(10),
      to: at(50),
      gaps: [{ from: at(15), to: at(17) }],
    },
  ])
  expect(lanes[1]!.marks).toEqual([
    { at: at(16), kind: 'beat-failed', runId: null, text: 'ECONNRESET (3 in a row)' },
    { at: at(45), kind: 'drain', runId: null, text: 'drain by ada' },
    { at: at(46), kind: 'recovery', runId: '7', text: 'run 7 recovered by eu-0 (presence)' },
    { at: at(47), kind: 'refused', runId: '7', text: 'refused-settle of run 7' },
    { at: at(50), kind: 'stopped', runId: null, text: 'stopped' },
  ])
})
