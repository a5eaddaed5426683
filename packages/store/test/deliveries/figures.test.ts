/** What metrics say about reports, whatever their number: counts stop at a bound, and the oldest one is found in a backlog. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fixture } from '../fixture.ts'

const { store, db } = await fixture()

/** Reports that were written `ageS` seconds ago and are due in `dueInS` seconds; null: they were given up. */
async function write(destination: string, count: number, ageS: number, dueInS: number | null): Promise<void> {
  await sql`INSERT INTO q.delivery (destination, news, subject, payload, created_at, due_at)
    SELECT ${destination}, 'status', 'run/' || n || '/' || gen_random_uuid(), '{}', clock_timestamp() - ${ageS} * interval '1 s',
      clock_timestamp() + ${dueInS}::int * interval '1 s' FROM generate_series(1, ${count}::int) n`.execute(db)
}

test('each destination has its reports; counts stop at their bound, and the age is that of the oldest report', async () => {
  for (const name of ['busy', 'idle', 'quiet']) await store.putDestination({ name, kind: 'log', reports: ['alert'] })
  await store.pauseDestination('quiet', { by: 'test' })
  await write('busy', 1_500, 30, -30)
  // It has failed so often that it is due later than all others.
  await write('busy', 1, 9_000, 3_000)
  await write('quiet', 2, 60, -60)
  await write('quiet', 3, 90, null)
  await write('removed', 5, 90, null)
  const { destinations } = await store.clusterGauges()
  expect(
    destinations.map(({ oldestMs, ...rest }) => ({ ...rest, ageS: oldestMs && Math.floor(oldestMs / 30_000) * 30 })),
  ).toEqual([
    { destination: 'busy', waiting: 1_000, ageS: 9_000, givenUp: 0, paused: false },
    { destination: 'idle', waiting: 0, ageS: null, givenUp: 0, paused: false },
    { destination: 'quiet', waiting: 2, ageS: 60, givenUp: 3, paused: true },
  ])
})
