import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { queue } from '@q/client'
import { testDatabase } from '@q/testing'
import { connect, createStore } from '@q/store'
import { q, qJson } from './terminal.ts'
import { runQ, scratch, startReplica } from './program.ts'

/** The database of this file, with a replica that knows the demo tasks. */
const { url, drop } = await testDatabase()
afterAll(drop)
const shared = { DATABASE_URL: url }
await startReplica(shared, afterAll)

/** One without a replica. */
async function database() {
  const own = await testDatabase()
  onTestFinished(own.drop)
  return { DATABASE_URL: own.url }
}

/** As a replica would; for cases that end before one is needed. */
async function publish(databaseUrl: string, name: string): Promise<void> {
  const connection = connect(databaseUrl, { purpose: 'control' })
  await createStore(connection.db).publishTasks('replica', [
    { name, queue: 'default', options: {}, payloadSchema: null },
  ])
  await connection.close()
}

test('a run is enqueued and awaited: stdout is the result alone', async () => {
  const hello = await runQ(['enqueue', 'hello', '{"name":"Ada"}', '--wait'], shared)
  expect(hello).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
  const primes = await runQ(['enqueue', 'primes', '{"upTo":100000}', '--wait'], shared)
  expect(primes).toMatchObject({ code: 0, stdout: '9592\n' })
})

test('--json prints one object with id, status and result', async () => {
  const waited = await runQ(['enqueue', 'hello', '{"name":"Ada"}', '--wait', '--json'], shared)
  expect(JSON.parse(waited.stdout)).toEqual({
    id: expect.stringMatching(/^\d+$/),
    status: 'SUCCEEDED',
    result: 'Hello, Ada!',
  })
  const failed = await runQ(['enqueue', 'hello', '{"nam":"Ada"}', '--wait', '--json'], shared)
  expect(failed.code).toBe(2)
  expect(failed.stdout + failed.stderr).toContain('INVALID_PAYLOAD')
})

test('a payload comes from the argument, a file or standard input; without one it is empty', async () => {
  const folder = await scratch('q-payload-')
  await writeFile(join(folder, 'payload.json'), '{"name":"file"}')
  const from = (payload: string, input?: string) =>
    runQ(['enqueue', 'hello', payload, '--wait'], { ...shared, INIT_CWD: folder }, input)
  expect((await from('@payload.json')).stdout).toBe('Hello, file!\n')
  expect((await from('-', '{"name":"stdin"}')).stdout).toBe('Hello, stdin!\n')
  expect(await from('@missing.json')).toMatchObject({ code: 2, stderr: expect.stringContaining('PAYLOAD_UNREADABLE') })
  expect(await runQ(['enqueue', 'hello', '--wait'], shared)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/name: is missing'),
  })
})

test('delay, priority and group are stored; enqueue waits only with --wait', async () => {
  const env = await database()
  await publish(env.DATABASE_URL, 'hello')
  const delayed = await runQ(
    ['enqueue', 'hello', '{"name":"Ada"}', '--delay', '1h', '--priority', '-10', '--group', 'a', '--json'],
    env,
  )
  expect(JSON.parse(delayed.stdout)).toEqual({ id: expect.any(String), status: 'PENDING' })
  const { id } = JSON.parse(delayed.stdout) as { id: string }
  const shown = await runQ(['show', id, '--json'], env)
  expect(JSON.parse(shown.stdout)).toMatchObject({ run: { group: 'a', priority: -10 } })
  const waiting = await runQ(['enqueue', 'hello', '{"name":"Ada"}'], env)
  expect(waiting.stdout).toMatch(/^Run \d+ of hello is AVAILABLE\.\n$/)
})

test('a run that was enqueued before any replica knew its task is executed once a replica does', async () => {
  const env = await database()
  const early = await runQ(['enqueue', 'hello', '{"name":"Ada"}', '--json'], env)
  const { id, status } = JSON.parse(early.stdout) as { id: string; status: string }
  expect(status).toBe('PENDING')
  await startReplica(env)
  const client = queue(env.DATABASE_URL)
  expect(await client.handle(id).result({ timeout: '60s' })).toBe('Hello, Ada!')
  await client.close()
})

test('a task that no replica has published is accepted with a warning that names the nearest one', async () => {
  const env = await database()
  await publish(env.DATABASE_URL, 'hello')
  const slip = await runQ(['enqueue', 'helo', '{}'], env)
  expect(slip).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Run \d+ of helo is PENDING\.\n$/) })
  expect(slip.stderr).toContain('no replica has published the task "helo"; its run waits until one does.')
  expect(slip.stderr).toContain('Did you mean "hello"?')
  await publish(env.DATABASE_URL, 'helo')
  expect((await runQ(['enqueue', 'helo', '{}'], env)).stderr).not.toContain('Warning')
})

test.each([
  ['not JSON', ['enqueue', 'hello', '{name: Ada}'], 'PAYLOAD_NOT_JSON'],
  ['an integer beyond 2^53', ['enqueue', 'hello', '{"n":[-9007199254740993]}'], 'PAYLOAD_INEXACT'],
  ['a delay that is none', ['enqueue', 'hello', '{}', '--delay', 'soon'], 'DURATION_INVALID'],
  ['a priority that is none', ['enqueue', 'hello', '{}', '--priority', 'high'], 'PRIORITY_INVALID'],
  ['an unknown option', ['enqueue', 'hello', '--wiat'], 'USAGE'],
  ['an unknown command', ['enqeue'], 'USAGE'],
  ['no command at all', ['enqueue'], 'USAGE'],
])('%s is a usage error with a way out, and no stack trace', async (_, args, code) => {
  const wrong = await q(args, shared)
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain(code)
  expect(wrong.stderr).toContain('fix')
  expect(wrong.stderr).not.toMatch(/^\s+at /m)
})

test('an integer of a payload keeps its digits, or is refused; again keeps all of them', async () => {
  const env = await database()
  const enqueued = await qJson(['enqueue', 'hello', '{"n":9007199254740991}'], env)
  const { id } = enqueued.json as { id: string }
  const refused = await q(['enqueue', 'hello', '{"n":9007199254740993}'], env)
  expect(refused.stderr).toContain('The payload has the integer 9007199254740993; nothing was enqueued.')
  const again = await qJson(['again', id, '--payload', '{"n":9223372036854775807}'], env)
  const { runId } = again.json as { runId: string }
  const payloadOf = async (run: string) =>
    ((await qJson(['show', run], env)).json as { payloadText: string }).payloadText
  expect([await payloadOf(id), await payloadOf(runId)]).toEqual([
    '{"n": 9007199254740991}',
    '{"n": 9223372036854775807}',
  ])
  expect(((await qJson(['runs'], env)).json as { runs: object[] }).runs).toHaveLength(2)
})

test.each([[['enqueue', '--json']], [['status', '--json', '--wiat']], [['db', 'url', 'extra', '--json']]])(
  'with --json a usage error is an object on stdout too: q %j',
  async (args) => {
    const { code, stdout, stderr } = await q(args, {})
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'USAGE',
        message: expect.any(String),
        why: expect.any(String),
        fix: expect.stringMatching(/^q .*--help$/),
      },
    })
  },
)

test('control characters of the command line are not written to the terminal in an error or a warning', async () => {
  const { stderr } = await runQ(['enqueue', 'un\u001b[2Jknown', '{"a\u009b31m'], shared)
  expect(stderr).toContain('PAYLOAD_NOT_JSON')
  const unknown = await runQ(['enqueue', 'un\u001b[2Jknown'], shared)
  expect(unknown.stderr).toContain('the task "un [2Jknown"')
  const usage = await runQ(['enqueue', '--wi\u001b[2Jat'], shared)
  expect(usage.stderr).toContain("'--wi [2Jat'")
  for (const text of [stderr, unknown.stderr, usage.stderr]) expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('a wait that takes too long ends with code 5, and the run continues', async () => {
  const late = await runQ(['enqueue', 'wait', '{"ms":60000}', '--wait', '--timeout', '300ms', '--json'], shared)
  expect(late.code).toBe(5)
  expect(JSON.parse(late.stdout)).toMatchObject({ error: { code: 'WAIT_TIMED_OUT' } })
})
