/** `isolation: 'process'`: the same entry in a child that may die alone, and never outlives its runner. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { childEnv } from '../src/main/executors/child-env.ts'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import { isAlive } from './is-alive.ts'
import type * as secretive from './tasks/needs-a-secret.ts'
import type * as poison from './tasks/poison.ts'
import type * as tasks from './tasks/stubborn.ts'
import { inProcesses } from './executor-scene.ts'

test('a child gets the default variables of the environment, and those allowed by name', () => {
  const env = {
    PATH: '/bin',
    LC_ALL: 'C',
    NODE_ENV: 'production',
    DATABASE_URL: 'secret',
    PGPASSWORD: 'secret',
    Q_TOKEN: 'secret',
    GITHUB_TOKEN: 'secret',
    S3_BUCKET: 'b',
    S3_REGION: 'r',
    MODEL: 'm',
  }
  expect(childEnv(env)).toEqual({ PATH: '/bin', LC_ALL: 'C', NODE_ENV: 'production' })
  expect(Object.keys(childEnv(env, ['S3_*', 'MODEL'])).toSorted()).toEqual(
    ['LC_ALL', 'MODEL', 'NODE_ENV', 'PATH', 'S3_BUCKET', 'S3_REGION'].toSorted(),
  )
})

test('code runs in another process, without our secrets; the process is reused, and has exited after the drain', async () => {
  process.env['PGPASSWORD'] = 'secret'
  process.env['Q_SPECIAL'] = 'allowed'
  onTestFinished(() => {
    delete process.env['PGPASSWORD']
    delete process.env['Q_SPECIAL']
  })
  const { q, runner } = await execution<typeof tasks>('stubborn', { threads: 1, env: { Q_CHILD_ENV: 'Q_SPECIAL' } })
  const first = await (await q.enqueue('whereAlone', {})).result({ timeout: '100s' })
  const second = await (await q.enqueue('whereAlone', {})).result({ timeout: '100s' })
  expect(first.pid).not.toBe(process.pid)
  expect(second).toEqual(first)
  expect(first.env).toMatchObject({ PATH: process.env['PATH'], Q_SPECIAL: 'allowed' })
  expect(Object.keys(first.env).filter((name) => /^PG|DATABASE/.test(name))).toEqual([])
  await runner.drain()
  expect(isAlive(first.pid)).toBe(false)
})

test('a busy loop in a child sends heartbeats, shows its progress, and is stopped by its heartbeat', async () => {
  const { q, runner, store } = await execution<typeof tasks>('stubborn')
  const run = await q.enqueue('beatsAlone', {})
  const seen = await eventually(async () => {
    const status = await run.status()
    return status.progress === null ? undefined : status
  }, 'progress of a child')
  expect(seen).toMatchObject({ status: 'RUNNING', progress: 0.25, note: expect.stringMatching(/^round \d+$/) })
  const stats = await eventually(
    () => runner.threads().find(({ runId, cpuPercent }) => runId === run.id && cpuPercent !== null && cpuPercent > 0),
    'stats of a child',
  )
  expect(stats).toMatchObject({ isolation: 'process', state: 'running', heapMb: expect.any(Number) })
  await store.cancelTaskRuns([run.id])
  await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('a child whose run ended normally after a stop request is not killed during its next run', async () => {
  const { q, store } = await execution<typeof tasks>('stubborn', { threads: 1 })
  const before = await (await q.enqueue('whereAlone', {})).result({ timeout: '100s' })
  for (let round = 0; round < 3; round++) {
    const run = await q.enqueue('yieldsAlone', {})
    await eventually(async () => (await run.status()).progress ?? undefined, 'it is executed')
    await store.cancelTaskRuns([run.id])
    expect(await run.result({ timeout: '100s' })).toBe('in order')
    expect((await (await q.enqueue('whereAlone', {})).result({ timeout: '100s' })).pid).toBe(before.pid)
  }
})

test('a run that was executing when its thread died is a suspect: its next attempt has a process of its own', async () => {
  const { q } = await execution<typeof poison>('poison')
  expect(await (await q.enqueue('diesOnce', {})).result({ timeout: '100s' })).not.toBe(process.pid)
})

test('a run that crashes every time is started four times, and then ends POISONED', async () => {
  const { q, store } = await execution<typeof poison>('poison')
  const run = await q.enqueue('diesAgain', {})
  await expect(run.result({ timeout: '40s' })).rejects.toMatchObject({ code: 'POISONED' })
  const { run: ended, attempts } = (await store.getTaskRun(run.id))!
  expect(ended).toMatchObject({ attempt: 4, crashCount: 4 })
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['crashed', 'crashed', 'crashed', 'crashed'])
})

test('at the deadline of a drain children are killed: runs that may start again are released, the rest end DRAINED', async () => {
  const { q, runner, store } = await execution<typeof tasks>('stubborn', { env: { Q_DRAIN_MS: '0' } })
  const runs = [await q.enqueue('tellsItsPid', {}), await q.enqueue('tellsItsPidAgain', {})]
  const pids = await Promise.all(
    runs.map((run) =>
      eventually(async () => {
        const { note } = await run.status()
        return note === null ? undefined : Number(note)
      }, 'the pid of the child'),
    ),
  )
  await runner.drain()
  expect(pids.map(isAlive)).toEqual([false, false])
  expect(await runs[0]!.status()).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
  const given = (await store.getTaskRun(runs[1]!.id))!.run
  expect(given).toMatchObject({ status: 'AVAILABLE', attempt: 0, crashCount: 0, replicaId: null })
})

test('a module that cannot be imported in a child, without our secrets, ends only its run, with the reason', async () => {
  process.env['PGPASSWORD'] = 'secret'
  onTestFinished(() => void delete process.env['PGPASSWORD'])
  const { q, events } = await execution<typeof secretive>('needs-a-secret')
  for (let round = 0; round < 2; round++) {
    const run = await q.enqueue('needsItAlone', {})
    await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({
      code: 'UNKNOWN_TASK',
      message: expect.stringContaining('PGPASSWORD is not set'),
    })
  }
  expect(await (await q.enqueue('needsIt', {})).result({ timeout: '100s' })).toBe('there')
  expect(events.filter(({ type }) => type === 'loop-failed' || type === 'run-unfinished')).toEqual([])
})

test('kill -9 of a runner leaves no child behind, not even one that is busy', async () => {
  const database = await testDatabase()
  const connection = connect(database.url, { purpose: 'control' })
  const store = createStore(connection.db)
  onTestFinished(async () => {
    await connection.close()
    await database.drop()
  })
  const replica = fork(new URL('./replica-program.ts', import.meta.url), ['stubborn', 'alone', database.url], {
    execArgv: ['--conditions=@q/source'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  onTestFinished(() => void replica.kill('SIGKILL'))
  await once(replica, 'message')
  const lane = await store.internLane({ queue: 'alone', task: 'tellsItsPid' })
  const [run] = await store.enqueueTaskRuns([{ task: 'tellsItsPid', lane, payload: {} }])
  const pid = await eventually(async () => {
    const [view] = await store.getTaskRuns([run!.id])
    return view?.note == null ? undefined : Number(view.note)
  }, 'the pid of the child')
  expect(isAlive(pid)).toBe(true)
  replica.kill('SIGKILL')
  await eventually(() => (isAlive(pid) ? undefined : true), 'the end of the child')
})

test('a child that executed a suspect executes the next one too: a crash leaves many of them', async () => {
  const { send } = inProcesses('stubborn', [])
  const first = await send('whereAlone').result()
  expect(await send('whereAlone').result()).toEqual(first)
})
