/**
 * Findings of `q doctor` about what lies between a program and its server, caused by real sockets in between, and about the
 * limits of its own process, caused by real limits.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { meddlingProxy, transactionPooler } from '../../store/test/wire-proxies.ts'
import type { CheckResult } from '../src/doctor/check.ts'
import { memoryGroup } from './memory-group.ts'
import { runQ } from './program.ts'
import { q, qJson } from './terminal.ts'

async function database(): Promise<string> {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  return url
}

async function findings(only: string, env: NodeJS.ProcessEnv): Promise<readonly CheckResult[]> {
  const { json } = await qJson(['doctor', '--only', only], env)
  return (json as { checks: readonly CheckResult[] }).checks
}

test('reach.pooler: a pooler in transaction mode is a warning, and no session can be listened on', async () => {
  const pooled = await transactionPooler(await database())
  expect(await findings('reach.pooler,reach.notify', { DATABASE_URL: pooled })).toMatchObject([
    { id: 'reach.pooler', level: 'warn', fix: expect.stringContaining('DATABASE_URL_DIRECT') as string },
    { id: 'reach.notify', level: 'skipped' },
  ])
})

test('reach.direct: a pooler in transaction mode as the direct URL is a failure, the server itself is not', async () => {
  const direct = await database()
  const pooled = await transactionPooler(direct)
  const level = async (url: string) =>
    (await findings('reach.direct', { DATABASE_URL: pooled, DATABASE_URL_DIRECT: url }))[0]?.level
  expect(await level(pooled)).toBe('fail')
  expect(await level(direct)).toBe('ok')
})

test('reach.notify: a proxy that swallows notifications is a warning', async () => {
  const deaf = await meddlingProxy(await database(), { swallowed: ['A'] })
  const [notify] = await findings('reach.notify', { DATABASE_URL: deaf })
  expect(notify).toMatchObject({
    level: 'warn',
    what: 'NOTIFY does not arrive.',
    why: expect.stringContaining('poll') as string,
  })
})

test('reach.round-trip: a server that answers late is a warning', async () => {
  const slow = await meddlingProxy(await database(), { delayMs: 27 })
  const [trip] = await findings('reach.round-trip', { DATABASE_URL: slow })
  expect(trip).toMatchObject({ level: 'warn', why: expect.stringMatching(/every heartbeat|overloaded/) as string })
})

/** The version of the server that @q/embedded starts, and one of the same length that q does not support. */
const older = ['180004', '140023'] as const

test('server.version: a server that is too old is the one failure, and what needs the schema is skipped', async () => {
  const { url, drop } = await testDatabase({ migrated: false })
  onTestFinished(drop)
  const { json } = await qJson(['doctor'], { DATABASE_URL: await meddlingProxy(url, { replaced: older }) })
  const all = (json as { checks: readonly CheckResult[] }).checks
  // Commits of a test server are not durable.
  const wrong = all.filter(({ id, level }) => id !== 'server.durability' && (level === 'fail' || level === 'warn'))
  expect(wrong).toMatchObject([{ id: 'server.version', level: 'fail', why: 'q needs PostgreSQL 15 or newer.' }])
  expect(all.find(({ id }) => id === 'schema.migrations')).toMatchObject({
    level: 'skipped',
    what: 'It needs PostgreSQL 15 or newer.',
  })
})

const tooOld = {
  code: 2,
  stderr: expect.stringMatching(
    /^DATABASE_TOO_OLD .*\n {2}why {2}q needs PostgreSQL 15 or newer\.\n {2}fix {2}Upgrade/m,
  ),
}

test.each(['status', 'migrate', 'migrate --sql', 'enqueue hello'])(
  'q %s on a server that is too old exits with 2 and says which version it needs',
  async (line) => {
    const env = { DATABASE_URL: await meddlingProxy(await database(), { replaced: older }) }
    expect(await q(line.split(' '), env)).toMatchObject(tooOld)
  },
)

test('a replica on a server that is too old does not start, exits with 2, and says which version it needs', async () => {
  const url = await meddlingProxy(await database(), { replaced: older })
  expect(await runQ(['start'], { DATABASE_URL: url })).toMatchObject(tooOld)
})

test('schema.migrations: of a database without the schema, this is the one failure, and what needs the schema is skipped', async () => {
  const { url, drop } = await testDatabase({ migrated: false })
  onTestFinished(drop)
  const { json } = await qJson(['doctor'], { DATABASE_URL: url })
  const all = (json as { checks: readonly CheckResult[] }).checks
  const wrong = all.filter(({ id, level }) => id !== 'server.durability' && (level === 'fail' || level === 'warn'))
  expect(wrong).toMatchObject([
    {
      id: 'schema.migrations',
      what: expect.stringMatching(/^\d+ migrations pending: 0001-task-runs to /) as string,
      fix: 'q migrate',
    },
  ])
  expect(all.find(({ id }) => id === 'work.lanes')).toMatchObject({
    level: 'skipped',
    what: 'It needs the migrations that are pending.',
  })
})

/** As a process of its own, after a line of the shell that sets its limits. */
async function limitedFinding(limits: string, only: string, env: NodeJS.ProcessEnv = {}): Promise<CheckResult> {
  const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url))
  const command = `${limits}; exec "$1" --conditions=@q/source "$2" doctor --only ${only} --json`
  const { stdout } = spawnSync('sh', ['-c', command, 'sh', process.execPath, bin], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: await database(), ...env },
    encoding: 'utf8',
  })
  return (JSON.parse(stdout) as { checks: readonly CheckResult[] }).checks[0]!
}

test('here.files: a low limit of open files is a warning', async () => {
  expect(await limitedFinding('ulimit -n 200', 'here.files')).toMatchObject({
    level: 'warn',
    what: 'Only 200 files may be open.',
    fix: 'ulimit -n 4096',
  })
})

test('here.memory: a bound of memory beyond the limit of the container is a note', async ({ skip }) => {
  using group = memoryGroup(700)
  if (group === undefined) return skip('this user may not make a control group')
  const finding = (set: string) => limitedFinding(`echo $$ > ${group.members}`, 'here.memory', { Q_UNHEALTHY_MB: set })
  expect(await finding('600')).toMatchObject({ level: 'ok' })
  expect(await finding('680')).toMatchObject({
    level: 'note',
    what: 'Q_UNHEALTHY_MB is 680, but the container may use only 700 MB.',
    fix: expect.stringContaining('Q_UNHEALTHY_MB=630 or less') as string,
  })
})
