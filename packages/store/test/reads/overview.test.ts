import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture } from '../fixture.ts'
import { fleetOf } from '../fleet.ts'

const its = await fixture()
const { store, db, enqueue, claimOne } = its
const fleet = fleetOf(its)

test('the overview counts live nodes, their slots, the backlog, the rates, and the attention items', async () => {
  for (const id of ['n1', 'n2', 'n3', 'n4']) await fleet.join(id)
  await store.drainReplica('n2', { by: 'ada' })
  await fleet.silence('n3')
  await store.retireReplica('n4')
  // What the last heartbeat said is up to a heartbeat old: the runs decide.
  await sql`UPDATE q.replica_heartbeat SET active_runs = 2`.execute(db)
  await enqueue('a', { count: 4 })
  await claimOne('a', 'n1')
  await sql`INSERT INTO q.run_tally (bucket_at, width_s, succeeded, failed, queue, task)
    SELECT date_trunc('minute', clock_timestamp()) - interval '2 minutes', 60, 600, 30, 'default', 'a'`.execute(db)
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by)
    VALUES (1, 1, 'RUNNING', 'FAILED', 'presence', 'n3', 'n1'), (2, 1, 'CLAIMED', 'AVAILABLE', 'presence', 'n3', 'n1')`.execute(
    db,
  )
  await sql`INSERT INTO q.error_group (fingerprint, first_seen, last_seen, muted_until, seen, last_run_id, code, name, message, tasks, versions)
    SELECT name, now(), now() - ago, until, 1, 1, 'TASK_ERROR', 'Error', 'no', '{}', '{}'
    FROM (VALUES ('f1', interval '1 minute', NULL), ('f2', interval '2 hours', NULL), ('f3', interval '0', now() + interval '1 hour'),
      ('f4', interval '0', now() - interval '1 hour')) AS given(name, ago, until)`.execute(db)
  expect(await store.overview()).toMatchObject({
    at: expect.any(Date),
    slots: { busy: 1, total: 4 },
    nodes: { alive: 1, draining: 1, stale: 1 },
    ready: { count: 3, atLeast: false },
    running: 1,
    succeededPerS: 2,
    failedPerS: 0.1,
    toReview: { count: 1, atLeast: false },
    errorGroups: { count: 2, atLeast: false },
  })
})

test('without a tally the rates are unknown, not zero', async () => {
  await sql`DELETE FROM q.run_tally`.execute(db)
  expect(await store.overview()).toMatchObject({ succeededPerS: null, failedPerS: null })
})

test('the figures for metrics are those of the newest samples, however many runs came since', async () => {
  await store.internLane({ queue: 'default', task: 'a', requires: [] })
  await sql`INSERT INTO q.queue_sample (sampled_at, queue, ready, claimed, running, waiting_time, waiting_concurrency, oldest_ms, paused)
    SELECT clock_timestamp() - ago, 'default', ready, 1, 2, 3, 4, 5000, true
    FROM (VALUES (interval '1 minute', 70), (interval '20 seconds', 7)) AS given(ago, ready)`.execute(db)
  const { queues, sampleAgeMs } = await store.clusterGauges()
  expect(queues).toEqual([
    {
      queue: 'default',
      ready: 7,
      claimed: 1,
      running: 2,
      waitingTime: 3,
      waitingConcurrency: 4,
      oldestMs: 5_000,
      paused: true,
    },
  ])
  expect(sampleAgeMs).toBeGreaterThanOrEqual(20_000)
})
