import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { testDatabase } from '@q/testing'
import { runQ, startMain, startQ, startReplica } from './program.ts'

/** Its tasks leave a mark in a file when they begin. */
const marking = fileURLToPath(new URL('../../runner/test/tasks/marking.ts', import.meta.url))

async function database() {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  return { DATABASE_URL: url }
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s drains the replica and it exits with 0', async (signal) => {
  const env = await database()
  const replica = await startReplica(env)
  const run = runQ(['enqueue', 'wait', '{"ms":1000}', '--wait', '--json'], env)
  await runQ(['enqueue', 'hello', '{"name":"first"}', '--wait'], env)
  replica.kill(signal)
  expect(await replica.ended).toMatchObject({ code: 0, signal: null })
  const { status } =
    JSON.parse((await runQ(['status', '--json'], env)).stdout).nodes.length === 0
      ? { status: 'gone' }
      : { status: 'there' }
  expect(status).toBe('gone')
  // It was running or still waiting when the signal came: finished, or left for the next replica, never lost.
  const next = await startReplica(env)
  expect(JSON.parse((await run).stdout)).toMatchObject({ status: 'SUCCEEDED' })
  next.kill('SIGTERM')
  await next.ended
})

test('a second signal cuts the drain short, and the exit code is still 0', async () => {
  const env = await database()
  const folder = mkdtempSync(join(tmpdir(), 'q-signals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'marks')
  const replica = await startReplica({ ...env, Q_DRAIN_MS: '600000', Q_TASKS: marking })
  const payload = JSON.stringify({ file, name: 'long', ms: 600_000 })
  const run = runQ(['enqueue', 'markOnce', payload, '--wait', '--json'], env)
  // RUNNING in the database is not enough: a run whose code has not begun is released at once.
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 60_000, interval: 20 })
  replica.kill('SIGTERM')
  await replica.line('draining: waiting for runs to end; Ctrl-C or SIGTERM again stops them now')
  // One request may arrive as two signals in quick succession; a later signal is a second request.
  const impatience = setInterval(() => replica.kill('SIGTERM'), 600)
  expect(await replica.ended).toMatchObject({ code: 0, signal: null })
  clearInterval(impatience)
  expect(JSON.parse((await run).stdout)).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
})

test('the first line shows what is running and what to try next', async () => {
  const env = await database()
  const { facts, pid } = await startReplica({ ...env, Q_NAME: 'ada', Q_THREADS: '3', Q_PRESET: 'fast' })
  expect(facts).toMatchObject({
    name: 'ada',
    threads: 3,
    preset: 'fast',
    logLevel: 'info',
    pid,
    replicaId: expect.stringMatching(/^[a-z0-9]{12}$/),
    tasks: ['hello', 'primes', 'wait'],
    next: expect.stringContaining('enqueue primes'),
  })
})

test('task modules of your own are named by Q_TASKS', async () => {
  const env = await database()
  const tasks = new URL('../../runner/test/tasks/also-echo.ts', import.meta.url).pathname
  await startReplica({ ...env, Q_TASKS: decodeURIComponent(tasks) })
  expect(await runQ(['enqueue', 'echo', '[1,2]', '--wait', '--json'], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"result":[1,2]'),
  })
})

test('a task module that cannot be loaded stops the start, with its reason and without a stack', async () => {
  const env = await database()
  const folder = decodeURIComponent(new URL('../../runner/test/tasks/', import.meta.url).pathname)
  const wrong = await startMain({ ...env, Q_TASKS: `${folder}throws-on-import.ts,${folder}exports-nothing.ts` }).ended
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('TASK_MODULE_FAILED')
  expect(wrong.stderr).toContain('no database driver here')
  expect(wrong.stderr).toContain('TASK_MODULE_EMPTY')
  expect(wrong.stderr).not.toMatch(/^\s+at /m)
})

test('all invalid settings are named, and nothing is started', async () => {
  const wrong = await startMain({ ...(await database()), Q_THREADS: '0', Q_PRESET: 'turbo' }).ended
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/CONFIG_INVALID[^]*Q_PRESET=turbo[^]*Q_THREADS=0/),
  })
})

test('problems of settings, task modules and the URL of the database are reported together', async () => {
  const wrong = { Q_THREADS: '0', Q_TASKS: 'no-such.ts,nor-this.ts', DATABASE_URL: 'mysql://u:hunter2@127.0.0.1/db' }
  const { code, stderr } = await startMain(wrong).ended
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /CONFIG_INVALID[^]*Q_THREADS=0[^]*TASK_MODULE_MISSING[^]*no-such\.ts[^]*nor-this\.ts[^]*DATABASE_URL_INVALID/,
  )
  expect(stderr).not.toContain('hunter2')
})

test('q start is the same replica', async () => {
  const env = await database()
  const replica = startQ(['start'], env)
  await replica.line('"msg":"started"')
  replica.kill('SIGTERM')
  expect(await replica.ended).toMatchObject({ code: 0 })
})

/** Looks until a run has started. */
