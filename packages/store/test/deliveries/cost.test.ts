/** What leasing and marking cost beside a history and a backlog, in pages that PostgreSQL counts. */
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { leaseStatement } from '../../src/deliveries/lease-deliveries.ts'
import { markStatement } from '../../src/deliveries/mark-deliveries.ts'
import { fixture } from '../fixture.ts'
import { explain, prepare, type PlanMode } from '../plans/explain.ts'

const modes: readonly PlanMode[] = ['force_custom_plan', 'force_generic_plan']
const holder = 'h'
const limit = 8

type Statistics = 'none' | 'of the backlog' | 'of delivered reports'

/** Delivered reports, then three waiting ones of each run. */
async function backlog(statistics: Statistics) {
  const { db, url, store } = await fixture()
  await sql`
INSERT INTO q.delivery (destination, news, subject, payload, due_at, delivered_at)
SELECT 'hook', 'status', format('run/%s/status/%s', n, n), '{}', NULL, clock_timestamp() FROM generate_series(1, 20000) n`.execute(
    db,
  )
  if (statistics === 'of delivered reports') await sql`ANALYZE q.delivery`.execute(db)
  await sql`
INSERT INTO q.delivery (destination, news, subject, payload, due_at)
SELECT 'hook', 'status', format('run/%s/status/%s', 20000 + n % 6000, gen_random_uuid()), '{}', clock_timestamp() FROM generate_series(1, 18000) n`.execute(
    db,
  )
  if (statistics === 'of the backlog') await sql`ANALYZE q.delivery`.execute(db)
  return { statistics, url, store }
}
const backlogs = [
  await backlog('none'),
  await backlog('of the backlog'),
  // After hours without a backlog: the index of due reports was empty.
  await backlog('of delivered reports'),
]
const cases = modes.flatMap((mode) => backlogs.map((one) => ({ mode, ...one })))

test.each(cases)(
  'a lease looks at the head of the backlog alone ($mode, statistics: $statistics)',
  async ({ mode, url }) => {
    const client = await connected(url)
    const query = leaseStatement({ destination: 'hook', holder, limit, forMs: 60_000 })
    await prepare(client, 'lease', query)
    expect((await explain(client, 'lease', query, mode)).pages).toBeLessThan(600)
  },
)

test.each(cases)(
  'a mark touches its own reports and those that wait for them ($mode, statistics: $statistics)',
  async ({ mode, url, store }) => {
    const leased = await store.leaseDeliveries({ destination: 'hook', holder, limit, forMs: 60_000 })
    const outcome = { kind: 'failed', error: 'HTTP 503' } as const
    const query = markStatement(
      holder,
      leased.map(({ id, revision }) => ({ id, revision, outcome })),
    )
    const client = await connected(url)
    await prepare(client, 'mark', query)
    expect((await explain(client, 'mark', query, mode)).pages).toBeLessThan(1_500)
  },
)

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
