/** `--dry-run` of every command that has it: says what the command would do, and changes nothing. */
import type { Command } from 'commander'
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connect } from '@q/store'
import type { Terminal } from '../src/frame/terminal.ts'
import { createProgram } from '../src/program.ts'
import { databaseContents } from './database-contents.ts'
import { exampleCluster } from './example-cluster.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
const { env, runs } = cluster
const connection = connect(env.DATABASE_URL, { purpose: 'pool', connectionsMax: 1 })
afterAll(async () => {
  await connection.close()
  await cluster.close()
})

/** The path of a command, its arguments, what it says, and its exit code. */
const cases: readonly (readonly [path: string, args: string, says: RegExp, code: number])[] = [
  ['cancel', runs.ready, /^Run \d+ would be CANCELLED\. Nothing was changed\.\n$/, 0],
  ['cancel', runs.running, /^Run \d+ is running; its node would be asked to stop it\. /, 0],
  [
    'cancel',
    `${runs.ready} ${runs.failed}`,
    /^Run \d+ would be CANCELLED\.\nRun \d+ has ended already\.\nNothing was changed/,
    6,
  ],
  ['cancel', `${runs.ready} --yes --detach`, /would be CANCELLED/, 0],
  ['cancel', '--status queued', /^\d+ runs match; q cancel would cancel them\./, 0],
  ['cancel', '--status queued --yes', /^\d+ runs match; /, 0],
  ['retry', runs.failed, /^Run \d+ would begin again in a new epoch\. Nothing was changed\.\n$/, 0],
  ['retry', `${runs.failed} ${runs.succeeded} --yes`, /^Run \d+ would begin again .*\nRun \d+ would begin again /, 0],
  [
    'retry',
    `${runs.failed} #${runs.failed}`,
    /^Run \d+ would begin again in a new epoch\. Nothing was changed\.\n$/,
    0,
  ],
  ['cancel', `${runs.ready} ${runs.ready}`, /^Run \d+ would be CANCELLED\. Nothing was changed\.\n$/, 0],
  ['review accept', `${runs.lost} ${runs.lost}`, /^1 recovery would be accepted\. Nothing was changed\.\n$/, 0],
  ['retry', runs.running, /^Run \d+ has not ended\. /, 1],
  ['retry', '--status failed --yes', /^2 runs match; q retry would start them again\./, 0],
  ['review accept', runs.lost, /^1 recovery would be accepted\. Nothing was changed\.\n$/, 0],
  ['review accept', runs.failed, /^Nothing would be accepted: /, 0],
  ['review accept', '--node eu-3 --yes', /^1 run matches; q review accept would mark it as reviewed\./, 0],
  ['review retry', runs.lost, /^Run \d+ would begin again in a new epoch\. /, 0],
  ['recover', '', /^No run is stale\./, 0],
]

test.each(cases)('q %s %s --dry-run says what it would do, and changes nothing', async (path, args, says, code) => {
  const line = [...path.split(' '), ...args.split(' ').filter((part) => part !== ''), '--dry-run']
  const before = await databaseContents(connection.db)
  const answered = await q(line, env)
  expect(answered).toMatchObject({ code, stdout: expect.stringMatching(says) as string })
  expect(await databaseContents(connection.db)).toEqual(before)
  expect(await qJson(line, env)).toMatchObject({ code, json: { dryRun: true } })
  expect(await databaseContents(connection.db)).toEqual(before)
})

test('a preview that did not read all runs says how far it looked and how to go on', async () => {
  const filter = ['--task', 'render', '--status', 'succeeded', '--look', '2']
  const { stdout, code } = await q(['retry', ...filter, '--dry-run'], env)
  expect(stdout).toMatch(/^No run matches among the newest 2, enqueued since .*\. Older runs were not read\.\n/)
  expect(stdout).toContain(
    'Change all that match, the older ones too: q retry --status succeeded --task render --yes\n',
  )
  const [, next = ''] = /^List the older ones: (q runs .*)$/m.exec(stdout) ?? []
  expect(next).toMatch(/^q runs --status succeeded --task render --before \d+$/)
  expect((await q(next.split(' ').slice(1), env)).stdout).toMatch(new RegExp(`^ *${runs.succeeded} `, 'm'))
  expect(code).toBe(0)
  expect(await qJson(['retry', ...filter, '--dry-run'], env)).toMatchObject({
    json: { match: { count: 0, atLeast: true }, exhausted: false, lookedBackTo: expect.any(String) as string },
  })
})

test.each([
  [
    '--errors',
    sql<{ value: string }>`SELECT fingerprint AS value FROM q.task_attempt WHERE fingerprint IS NOT NULL LIMIT 1`,
  ],
  ['--schedule', sql<{ value: string }>`SELECT name AS value FROM q.schedule LIMIT 1`],
])('the list that a preview by %s names can be called, although it has another order', async (option, query) => {
  const { rows } = await query.execute(connection.db)
  const { stdout } = await q(['retry', option, rows[0]!.value, '--look', '1', '--dry-run'], env)
  const [, list = ''] = /^List all of them: (q runs .*)$/m.exec(stdout) ?? []
  expect((await q(list.split(' ').slice(1), env)).code).toBe(0)
})

test('where no run matches, an operation that has not looked at all runs asks before it looks at the older ones', async () => {
  const filter = ['retry', '--task', 'render', '--status', 'succeeded', '--look', '2']
  const refused = await q(filter, env, { answers: ['n'] })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Retry those of the older ones') as string })
  expect((await q(['retry', '--task', 'no-such-task', '--yes'], env)).stdout).toMatch(/^No run matches\.\n/)
  const { json } = await qJson([...filter, '--yes', '--detach'], env)
  expect(json).toMatchObject({ kind: 'retry', state: 'waiting' })
  await cluster.execute(sql`DELETE FROM q.operation`)
})

test('a dry run of a run that does not exist says so', async () => {
  for (const command of ['cancel', 'retry'])
    expect(await q([command, '999999', '--dry-run'], env)).toMatchObject({ code: 4 })
})

/** A cluster of its own, with a run that is stale. */
async function staleCluster() {
  const own = await exampleCluster()
  const database = connect(own.env.DATABASE_URL, { purpose: 'pool', connectionsMax: 1 })
  onTestFinished(async () => {
    await database.close()
    await own.close()
  })
  await own.execute(sql`UPDATE q.task_run SET replica_id = 'aaaaaaaaaaa3', claimed_at = claimed_at - interval '1 hour',
    started_at = started_at - interval '1 hour' WHERE id = ${own.runs.running}`)
  return { ...own, contents: () => databaseContents(database.db) }
}

test('q recover --dry-run names stale runs and leaves them to their node', async () => {
  const own = await staleCluster()
  const before = await own.contents()
  const { stdout } = await q(['recover', '--dry-run', '--force'], own.env)
  expect(stdout).toMatch(/^1 run would be recovered:\n/)
  expect(await own.contents()).toEqual(before)
})

test('without --dry-run each of them changes something, so that the cases above can fail', async () => {
  const own = await staleCluster()
  for (const line of [
    `cancel ${own.runs.ready}`,
    `retry ${own.runs.failed}`,
    `review accept ${own.runs.lost}`,
    'recover --force',
    `review retry ${own.runs.lost}`,
  ]) {
    const before = await own.contents()
    await q(line.split(' '), own.env)
    expect([line, await own.contents()]).not.toEqual([line, before])
  }
})

test('every command with --dry-run has a case', () => {
  const tested = new Set(cases.map(([path]) => path))
  expect(pathsWithDryRun(createProgram({} as Terminal)).filter((path) => !tested.has(path))).toEqual([])
})

function pathsWithDryRun(command: Command, before = ''): string[] {
  return command.commands.flatMap((nested) => {
    const path = `${before}${nested.name()}`
    const own = nested.options.some(({ long }) => long === '--dry-run') ? [path] : []
    return [...own, ...pathsWithDryRun(nested, `${path} `)]
  })
}
