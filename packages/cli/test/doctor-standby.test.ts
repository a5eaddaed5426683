/** Findings of `q doctor` about a real standby, made by a backup of a running server, and what other commands say to it. */
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startEmbedded } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import { Client } from 'pg'
import { startStandby } from '../../chaos/src/standby.ts'
import type { CheckResult } from '../src/doctor/check.ts'
import { scratch } from './program.ts'
import { q, qJson } from './terminal.ts'

const home = await scratch('q-standby-', afterAll)
const primary = await startEmbedded({ dataDir: join(home, 'primary') })
await migrateDatabase(primary.url)
const standby = await startStandby(primary, join(home, 'standby'))
const admin = new Client({ connectionString: primary.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await standby.server.close()
  await primary.close()
})

async function findings(url: string, ...only: string[]): Promise<readonly CheckResult[]> {
  const options = only.length === 0 ? [] : ['--only', only.join(',')]
  const { json } = await qJson(['doctor', ...options], { DATABASE_URL: url })
  return (json as { checks: readonly CheckResult[] }).checks
}

/** Statements on one session. */
async function session(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

test('reach.primary: on a standby that is the one failure, and what needs the primary is skipped', async () => {
  const all = await findings(standby.server.url)
  expect(all.filter(({ level }) => level === 'fail' || level === 'warn')).toMatchObject([
    { id: 'reach.primary', level: 'fail', what: 'The server is a standby.', fix: 'Point DATABASE_URL at the primary.' },
  ])
  expect(all.find(({ id }) => id === 'liveness.heartbeat')).toMatchObject({
    level: 'skipped',
    what: 'It needs a server that can be written to.',
  })
})

test.each(['status', 'runs', 'enqueue hello', 'cancel 1', 'drain eu-1', 'queues pause media', 'migrate'])(
  'q %s on a standby exits with 3 and names the primary as the fix',
  async (line) => {
    const answer = await q(line.split(' '), { DATABASE_URL: standby.server.url })
    expect(answer).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^DATABASE_READ_ONLY .*\n.*standby/),
    })
  },
)

test('server.durability: a standby for which commits do not wait is a note', async () => {
  expect(await findings(primary.url, 'server.durability')).toMatchObject([{ level: 'ok' }])
  await configure(admin, "synchronous_standby_names = ''")
  onTestFinished(() => configure(admin, "synchronous_standby_names = '*'"))
  await expect
    .poll(() => findings(primary.url, 'server.durability'))
    .toMatchObject([{ level: 'note', what: '1 standby streams asynchronously.' }])
})

test('vacuum.held-xmin: a query on a standby that reports its snapshot is named after 100 000 transactions', async () => {
  const reader = await session(standby.server.url)
  await configure(reader, 'hot_standby_feedback = on')
  await configure(reader, 'wal_receiver_status_interval = 1')
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.query('SELECT count(*) FROM q.task_run')
  const feedback = () => admin.query('SELECT FROM pg_stat_replication WHERE backend_xmin IS NOT NULL')
  await expect.poll(async () => (await feedback()).rows.length).toBe(1)
  expect(await findings(primary.url, 'vacuum.held-xmin')).toMatchObject([{ level: 'ok' }])
  // Commits of a procedure; without waiting for the standby, which is not what this test is about.
  await admin.query('SET synchronous_commit = off')
  await admin.query('DO $$ BEGIN FOR i IN 1..100000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$')
  await admin.query('RESET synchronous_commit')
  await expect
    .poll(() => findings(primary.url, 'vacuum.held-xmin'))
    .toMatchObject([
      {
        level: 'warn',
        what: expect.stringMatching(/^Standby \S+ \(pid \d+\) holds a snapshot for 100 \d+ transactions\.$/) as string,
        fix: expect.stringContaining('hot_standby_feedback = off') as string,
      },
    ])
  await reader.query('ROLLBACK')
  await expect.poll(() => findings(primary.url, 'vacuum.held-xmin')).toMatchObject([{ level: 'ok' }])
})

async function configure(client: Client, setting: string): Promise<void> {
  await client.query(`ALTER SYSTEM SET ${setting}`)
  await client.query('SELECT pg_reload_conf()')
}
