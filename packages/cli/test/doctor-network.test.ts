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
import { qJson } from './terminal.ts'

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
