/** Every finding of `q doctor` that can be caused in a test: the cause is real, and the finding has its level and its fix. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { poolerIsInstalled, startPooler } from '../../runner/test/pooler.ts'
import { containerMb } from '@q/runner/container-memory'
import type { CheckResult, Surroundings } from '../src/doctor/check.ts'
import { checks } from '../src/doctor/checks.ts'
import { exampleCluster } from './example-cluster.ts'
import { scratch } from './program.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
afterAll(() => cluster.close())

const causes = [
  // nodes
  sql`UPDATE q.replica SET recovers = false, replica_beat_ms = 400000, level = 1 WHERE name = 'eu-1'`,
  sql`UPDATE q.replica SET draining_at = now(), draining_by = 'ada', drain_deadline = now() - interval '5 minutes' WHERE name = 'eu-2'`,
  sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error) VALUES ('aaaaaaaaaaa1', now(), 3, 'ECONNRESET')`,
  sql`INSERT INTO q.beat_gap (replica_id, last_beat, ended_at) VALUES ('aaaaaaaaaaa1', now() - interval '1 minute', now() - interval '20 s')`,
  sql`INSERT INTO q.duty (name, holder, until) VALUES ('cleanup', 'aaaaaaaaaaa3', now() + interval '10 minutes')
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until`,
  sql`INSERT INTO q.task_event (run_id, fence, kind, replica_id) VALUES (1, 1, 'refused-log', 'aaaaaaaaaaa1')`,
  sql`UPDATE q.task_run SET replica_id = 'aaaaaaaaaaa3' WHERE status = 'RUNNING'`,
  // work
  sql`INSERT INTO q.lane (queue, task) VALUES ('video', 'resize'), ('default', 'unknown')`,
  sql`INSERT INTO q.task_run (task, lane) SELECT task, id FROM q.lane WHERE queue IN ('video', 'media') OR task = 'unknown'`,
  sql`UPDATE q.task_run SET run_at = now() - interval '1 hour' WHERE ready`,
  sql`UPDATE q.schedule SET next_tick = now() - interval '1 hour'`,
  sql`INSERT INTO q.task_run (task, lane, status, waiting_for, concurrency_scope, concurrency_key)
    SELECT task, id, 'PENDING', 'concurrency', 'free', 'free' || chr(31) || 'k' FROM q.lane WHERE task = 'keyed'`,
  sql`UPDATE q.workflow SET open_steps = 0`,
  sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at, last_error) VALUES ('hook', 'run-ended', '1', '{}', NULL, '503')`,
  // schema and vacuum
  sql`CREATE INDEX beat_gap_copy ON q.beat_gap (ended_at)`,
  sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'q.beat_gap_copy'::regclass`,
  sql`DROP INDEX q.task_event_refused`,
  sql`ALTER TABLE q.action SET (autovacuum_enabled = false)`,
  sql`INSERT INTO q.action (acted_by, via, what, subject, answer) SELECT 'x', 'cli', 'x', 'x', 'x' FROM generate_series(1, 10002)`,
  sql`DELETE FROM q.action`,
  sql`SELECT pg_stat_force_next_flush()`,
  sql`CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  sql`CREATE TRIGGER swallow BEFORE INSERT ON q.replica_heartbeat FOR EACH ROW EXECUTE FUNCTION public.swallow()`,
]

let found: ReadonlyMap<string, CheckResult> = new Map()

async function findings(only: string, env: NodeJS.ProcessEnv): Promise<readonly CheckResult[]> {
  const { json } = await qJson(['doctor', '--only', only], env)
  return (json as { checks: readonly CheckResult[] }).checks
}

beforeAll(async () => {
  for (const cause of causes) await cluster.execute(cause)
  const all = await findings('server,schema,vacuum,liveness,work,here', { ...cluster.env, Q_THREADS: '1000' })
  found = new Map(all.map((result) => [result.id, result]))
})

test.each<[id: string, level: CheckResult['level'], what: RegExp, fix: RegExp]>([
  ['server.durability', 'fail', /fsync is off/, /restart the server/],
  ['schema.migrations', 'note', /1 node of an older release: eu-1/, /q drain <node> --wait/],
  ['schema.drift', 'fail', /index task_event\.task_event_refused missing/, /CREATE INDEX task_event_refused/],
  ['schema.indexes', 'fail', /beat_gap_copy/, /REINDEX INDEX CONCURRENTLY q\.beat_gap_copy/],
  ['vacuum.dead-rows', 'warn', /q\.action has 10 002 dead rows/, /VACUUM \(ANALYZE\) q\.action/],
  ['liveness.heartbeat', 'fail', /could not be read back/, /triggers or rules/],
  ['liveness.lost-nodes', 'fail', /eu-3 is lost and still holds/, /q recover --node eu-3/],
  ['liveness.heartbeats', 'warn', /eu-1 could not send 3 heartbeats/, /q node eu-1/],
  ['liveness.recovery', 'note', /switched off on 1 of 2/, /q doctor --only liveness/],
  ['liveness.refused-writes', 'warn', /refused in the last hour/, /q show 1/],
  ['liveness.thresholds', 'fail', /eu-1: replica beats every .*, stale after 10 min/, /Q_REPLICA_STALE_MS/],
  ['liveness.presence', 'note', /2 live nodes without a presence lock/, /DATABASE_URL_DIRECT/],
  ['liveness.duties', 'note', /cleanup for another/, /Wait/],
  ['liveness.gaps', 'note', /1 gap between heartbeats/, /q node eu-1/],
  ['work.lanes', 'fail', /unknown: 1 run cannot start/, /q why \d+/],
  ['work.paused', 'warn', /video was paused .* by ada/, /q queues resume video/],
  ['work.backlog', 'warn', /The oldest run of media has been ready for/, /q runs --view waiting --queue media/],
  ['work.drains', 'warn', /eu-2 should have finished draining/, /q node eu-2/],
  ['work.schedules', 'warn', /nightly is .* late/, /q schedules nightly/],
  ['work.keys', 'note', /1 concurrency key with waiting runs and no holder/, /q why/],
  ['work.workflows', 'fail', /is inconsistent/, /q repair/],
  ['work.deliveries', 'warn', /1 delivery was given up/, /q deliveries --given-up/],
  ['work.review', 'warn', /1 run was running when its node died/, /q review/],
  ['here.threads', 'note', /1000 threads on/, /Q_THREADS=/],
])('%s: %s', (id, level, what, fix) => {
  expect(found.get(id)).toMatchObject({ level, what: expect.stringMatching(what), fix: expect.stringMatching(fix) })
  expect(found.get(id)?.why).not.toBe('')
})

test.each([
  ['reach.primary', 'fail', 'default_transaction_read_only=on', 'Point DATABASE_URL at the primary.'],
  ['server.timeouts', 'warn', 'idle_session_timeout=60000', 'idle_session_timeout = 0'],
  ['vacuum.autovacuum', 'fail', 'track_counts=off', 'ALTER SYSTEM SET track_counts = on'],
] as const)('%s: %s if %s', async (id, level, setting, fix) => {
  const url = new URL(cluster.env.DATABASE_URL)
  url.searchParams.set('options', `-c ${setting}`)
  const [result] = await findings(id, { DATABASE_URL: url.href })
  expect(result).toMatchObject({ id, level, fix: expect.stringContaining(fix) })
})

test.skipIf(!poolerIsInstalled)('a pooler in transaction mode is a finding, and worse as the direct URL', async () => {
  const pooled = await startPooler(cluster.env.DATABASE_URL)
  const results = await findings('reach', { DATABASE_URL: pooled, DATABASE_URL_DIRECT: pooled })
  expect(results.map(({ id, level }) => `${id} ${level}`)).toEqual(
    expect.arrayContaining(['reach.pooler warn', 'reach.direct fail']),
  )
})

test('here.token: a token that other users can read is a failure', async () => {
  const file = join(await scratch('q-doctor-'), 'token')
  await writeFile(file, 'x', { mode: 0o644 })
  const [result] = await findings('here.token', { ...cluster.env, Q_HTTP_TOKEN_FILE: file })
  expect(result).toMatchObject({ level: 'fail', fix: `chmod 600 ${file} && q token --replace` })
})

test('a pending migration is a failure', async () => {
  await cluster.execute(sql`DELETE FROM q.migration WHERE name = (SELECT max(name) FROM q.migration)`)
  const [pending] = await findings('schema.migrations', cluster.env)
  expect(pending).toMatchObject({
    level: 'fail',
    what: expect.stringContaining('1 migration pending'),
    fix: 'q migrate',
  })
})

test.each([
  [0, '', 'skipped', 'No memory limit of a container is visible.'],
  [2 ** 43, '', 'skipped', 'No memory limit of a container is visible.'],
  [1_000, '', 'ok', 'The container may use 1000 MB; a replica claims nothing above 900 MB.'],
  [100_000, '', 'ok', 'The container may use 100000 MB; a replica claims nothing above 8192 MB.'],
  [1_000, '800', 'ok', 'The container may use 1000 MB; a replica claims nothing above 800 MB.'],
  [1_000, '950', 'note', 'Q_UNHEALTHY_MB is 950, but the container may use only 1000 MB.'],
] as const)('here.memory: with a limit of %d MB and Q_UNHEALTHY_MB=%s it is %s', async (limitMb, set, level, what) => {
  const check = checks.find(({ id }) => id === 'here.memory')!
  const outcome = await check.look({ env: { Q_UNHEALTHY_MB: set }, memoryLimitMb: limitMb } as unknown as Surroundings)
  expect(outcome).toMatchObject({ level, what })
})

test('here.memory judges by the limit that a replica reads itself', async () => {
  const [result] = await findings('here.memory', { ...cluster.env, Q_UNHEALTHY_MB: '1000000000' })
  expect(result?.level).toBe(containerMb() > 0 && containerMb() < 2 ** 30 ? 'note' : 'skipped')
})

test('every check has a test that causes its finding', () => {
  const files = ['doctor', 'doctor-network', 'doctor-server', 'doctor-standby'].map(
    (name) => new URL(`./${name}.test.ts`, import.meta.url),
  )
  const tests = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const ids = checks.map(({ id }) => id).filter((id) => id !== 'here.node')
  expect(ids.filter((id) => !tests.includes(`'${id}`) && !tests.includes(` ${id}: `))).toEqual([])
})

test('the exit code is 1 for failures, 6 for warnings with --strict, and 2 for a check that does not exist', async () => {
  const code = async (...args: string[]) => (await q(['doctor', ...args], cluster.env)).code
  expect(await code('--only', 'schema.indexes')).toBe(1)
  expect(await code('--only', 'work.review')).toBe(0)
  expect(await code('--only', 'work.review', '--strict')).toBe(6)
  expect(await code('--only', 'work.reviews')).toBe(2)
})

test('the findings stand first, worst first, each with why and fix', async () => {
  const { stdout } = await q(['doctor', '--only', 'schema,work'], cluster.env)
  const levels = [...stdout.matchAll(/^ (✕|!|·) /gm)].map(([, glyph = '']) => '✕!·'.indexOf(glyph))
  expect(levels).toEqual(levels.toSorted((a, b) => a - b))
  expect(stdout.match(/^ +fix {2}\S/gm)).toHaveLength(levels.length)
  expect(stdout).toMatch(/\d+ checks: /)
})
