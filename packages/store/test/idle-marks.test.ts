/** As long as a replica is marked idle, every enqueue notifies: so the mark of a dead one must not stay. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, db } = await fixture()

/** Marked idle; its session's lock was seen missing a minute ago, its last heartbeat came so many minutes ago. */
async function idle(
  id: string,
  { beatMinutes, isMissing }: { beatMinutes: number; isMissing: boolean },
): Promise<void> {
  const { num } = await store.registerReplica(introduction(id, id))
  await store.markIdle(id)
  await sql`INSERT INTO q.presence (num, replica_id, server_start, gone_at) VALUES (${num}, ${id}, pg_postmaster_start_time(),
    CASE WHEN ${isMissing}::boolean THEN clock_timestamp() - interval '1 min' END)`.execute(db)
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - ${beatMinutes}::int * interval '1 min'
    WHERE replica_id = ${id}`.execute(db)
}

test('a reap removes the idle mark of a dead replica, and of no other', async () => {
  await idle('dead', { beatMinutes: 2, isMissing: true })
  await idle('beaten-since', { beatMinutes: 0, isMissing: true })
  // It may be that the clock has stepped ahead.
  await idle('silent', { beatMinutes: 600, isMissing: false })
  await store.reap({ causes: ['presence'], gone: [], by: 'watcher' })
  const marks = await db.selectFrom('q.idle').select('replica_id').orderBy('replica_id').execute()
  expect(marks.map((mark) => mark.replica_id)).toEqual(['beaten-since', 'silent'])
})
