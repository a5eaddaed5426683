import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { widthOf } from '../src/words/style.ts'
import { q } from './terminal.ts'

const cluster = await exampleCluster()
const { env, store } = cluster

beforeAll(async () => {
  await cluster.execute(
    sql`UPDATE q.replica_heartbeat SET health = 'degraded', cpu_percent = 81.6, memory_mb = 5000 WHERE replica_id = 'aaaaaaaaaaa2'`,
  )
  await store.pauseQueue('clips\u001B[2J', 'eve\n\u009B31m')
  await store.drainReplica('aaaaaaaaaaa2', { by: 'ci', deadlineMs: 90_000 })
})
afterAll(() => cluster.close())

test('q status shows the nodes by state, each queue with its backlog and who paused it', async () => {
  const { code, stdout } = await q(['status'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/\(PostgreSQL \d+\.\d+\)\nnodes 1 alive, 1 draining, 1 lost {3}slots /)
  expect(stdout).toMatch(/^QUEUE +READY +OLDEST +RUNNING +WAITING .*STATE$/m)
  expect(stdout).toMatch(/^media +0 +- +1 +1 time +open$/m)
  expect(stdout).toMatch(/^video .* paused .* by ada$/m)
})

test('control characters in the names of queues and people do not reach the terminal', async () => {
  const { stdout } = await q(['status'], env)
  expect(stdout).toMatch(/^clips \[2J .* by eve 31m$/m)
  expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('q status counts all runs by state only when asked to', async () => {
  expect((await q(['status'], env)).stdout).not.toContain('RUNS')
  expect((await q(['status', '--exact'], env)).stdout).toMatch(/^SUCCEEDED +1$/m)
})

test('q nodes shows the drain with its deadline and who ordered it, health, and no load of a dead node', async () => {
  const { stdout, stderr } = await q(['nodes'], env)
  expect(stdout).toMatch(/^eu-1 +● alive +.*healthy/m)
  expect(stdout).toMatch(/^eu-2 +◒ draining 0 left +.*82 % +5000 MB +degraded .*deadline in 1:\d\d, by ci/m)
  expect(stdout).toMatch(/^eu-3 +✖ lost +60 min\/10 min +-\/4 +- +- +-/m)
  expect(stdout).toMatch(/^NODE .* SERVES\n.* all queues; .*render/)
  expect(stderr).toBe('3 nodes shown, oldest first.\n')
})

test('a node is found by its name, the beginning of its id, or a part of its name; candidates are named', async () => {
  for (const text of ['eu-2', 'aaaaaaaaaaa2', 'u-2'])
    expect((await q(['node', text], env)).stdout).toMatch(/^eu-2 {2}◒ draining/)
  const many = await q(['node', 'eu'], env)
  expect(many).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/NODE_AMBIGUOUS.*eu-2 \(aaaaaaaaaaa2, draining\), eu-1 \(aaaaaaaaaaa1, alive\)/),
  })
  expect(await q(['node', 'us-1'], env)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('There are: eu-1, eu-2, eu-3.'),
  })
})

test('neither a drain of a lost node nor its end promises what only a live node does', async () => {
  expect((await q(['drain', 'eu-3'], env)).stdout).toBe(
    'eu-3 is lost: it drains only if it comes back. Undo: q undrain eu-3\n',
  )
  expect(await q(['undrain', 'eu-3'], env)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^eu-3 is lost: /) })
})

test('the selected row of q top keeps its whole name without colours', async () => {
  const { stdout } = await q(['top', '--count', '1'], env, { columns: 80 })
  expect(stdout).toMatch(/^clips .* <$/m)
})

test('q top shows how far a drain is and who ordered it', async () => {
  expect((await q(['top', '--count', '1'], env)).stdout).toMatch(/^eu-2 +◒ draining 0 left, by ci/m)
})

test.each([40, 80, 120])('every line of the overviews fits a terminal of %i columns', async (columns) => {
  const wide: string[] = []
  for (const line of [
    'status',
    'nodes',
    'runs',
    'queues',
    'errors',
    'recoveries',
    'schedules',
    'workflows',
    'actions',
    'operations',
    'doctor',
    'top --count 1',
  ]) {
    const { stdout } = await q(line.split(' '), env, { columns, colour: true })
    const tooWide = stdout.split('\n').filter((each) => widthOf(each) > columns)
    wide.push(...tooWide.map((each) => `${line}: ${each}`))
  }
  expect(wide).toEqual([])
})

test.each([
  ['stauts', 'status'],
  ['runs --veiw failed', '--view'],
  ['runs --view faild', 'failed'],
  ['runs --status FAILD', 'failed'],
  ['runs --status queued,runing', 'running'],
  ['cancel --status quued', 'queued'],
  ['drain eu-1 --on-deadline relase', 'release'],
])('q %s suggests %s', async (line, meant) => {
  const answered = await q(line.split(' '), env)
  expect(answered).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`Did you mean ${meant}?`) as string,
  })
})
