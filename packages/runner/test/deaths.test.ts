/** kill -9 and SIGSTOP, of real processes. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { connect, createStore, type Connection, type RunId } from '@q/store'
import { testDatabase } from '@q/testing'
import { onTestFinished } from 'vitest'
import { eventually } from './fixture.ts'
import { marksFile } from './marks.ts'
import { startProcess, type ReplicaProcess } from './replica-process.ts'

async function fleet() {
  const database = await testDatabase()
  const { db, close }: Connection = connect(database.url, { purpose: 'pool' })
  const store = createStore(db)
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  const marks = marksFile()
  return {
    url: database.url,
    db,
    store,
    marks,
    start: (env: Record<string, string> = {}) =>
      startProcess({ env: { DATABASE_URL: database.url, Q_PRESET: 'fast', ...env } }),
    async enqueue(
      task: 'markOnce' | 'markAgain',
      name: string,
      ms: number,
      { againMs = ms, ...more }: { againMs?: number; concurrency?: { scope: string; key: string } } = {},
    ): Promise<RunId> {
      const lane = await store.internLane({ queue: 'default', task })
      const onCrash = task === 'markOnce' ? 'fail' : 'retry'
      const [run] = await store.enqueueTaskRuns([
        { task, lane, onCrash, payload: { file: marks.file, name, ms, againMs }, ...more },
      ])
      await store.wakeQueue('default')
      return run!.id
    },
    run: async (id: RunId) => (await store.getTaskRuns([id]))[0]!,
    ended: (id: RunId) =>
      eventually(async () => {
        const [run] = await store.getTaskRuns([id])
        return run?.result === null && run.status !== 'SUCCEEDED' ? undefined : run
      }, `the end of run ${id}`),
    watcher: async () =>
      (await db.selectFrom('q.duty').select('holder').where('name', '=', 'presence').executeTakeFirst())?.holder,
  }
}

type Fleet = Awaited<ReturnType<typeof fleet>>

/** Its own eyes must have been open for a grace before a watcher judges. */
async function watched({ watcher }: Fleet, replicas: readonly ReplicaProcess[]): Promise<void> {
  await eventually(async () => {
    const id = await watcher()
    return replicas.some((replica) => replica.id === id) ? true : undefined
  }, 'somebody watches')
}

async function heldBy({ store }: Fleet, replica: ReplicaProcess) {
  return (await store.heldTaskRuns(replica.id)).map(({ runId, status }) => ({ runId, status }))
}

test.each(['the one that watches', 'the other one'])(
  'kill -9 of %s: what may not start twice has failed, what may has succeeded elsewhere, what was only claimed ran once',
  async (who) => {
    const all = await fleet()
    const replicas = [await all.start({ Q_PREFETCH: '1' }), await all.start({ Q_PREFETCH: '1' })]
    await watched(all, replicas)
    const watcher = await all.watcher()
    const victim = replicas.find(({ id }) => (id === watcher) === (who === 'the one that watches'))!
    const survivor = replicas.find((replica) => replica !== victim)!
    const tasks = ['markOnce', 'markAgain', 'markOnce', 'markAgain', 'markOnce', 'markAgain'] as const
    const ids = await Promise.all(tasks.map((task, index) => all.enqueue(task, `${index}`, 3_000)))
    await eventually(async () => {
      const held = await heldBy(all, victim)
      const running = held.filter(({ status }) => status === 'RUNNING')
      return held.length === 3 && running.length === 2 && all.marks.all().some(({ pid }) => pid === victim.pid)
        ? true
        : undefined
    }, 'its slots are taken and one run is claimed ahead')
    victim.kill('SIGKILL')
    await victim.ended
    const held = await heldBy(all, victim)
    const ends = await Promise.all(ids.map(all.ended))
    for (const [index, run] of ends.entries()) {
      const crashed = held.some(({ runId, status }) => runId === run.id && status === 'RUNNING')
      const failed = crashed && tasks[index] === 'markOnce'
      expect(run).toMatchObject(
        failed
          ? { status: 'FAILED', result: { code: 'WORKER_CRASHED' } }
          : { status: 'SUCCEEDED', replicaId: survivor.id, attempt: crashed ? 2 : 1 },
      )
      expect(all.marks.count('effect', `${index}`)).toBe(failed ? 0 : 1)
      // What was only claimed, and what the other one had from the beginning, was started once.
      expect(all.marks.count('began', `${index}`)).toBeLessThanOrEqual(crashed ? 2 : 1)
    }
    const recoveries = await all.db.selectFrom('q.recovery').selectAll().execute()
    expect(recoveries.map(({ run_id }) => run_id).toSorted()).toEqual(held.map(({ runId }) => runId).toSorted())
    expect(recoveries.every(({ cause, recovered_by }) => cause === 'presence' && recovered_by === survivor.id)).toBe(
      true,
    )
  },
)

test('the next run of a concurrency key whose holder was killed starts elsewhere', async () => {
  const all = await fleet()
  const victim = await all.start()
  const concurrency = { scope: 'markOnce', key: 'one-at-a-time' }
  const first = await all.enqueue('markOnce', 'first', 60_000, { concurrency })
  const second = await all.enqueue('markOnce', 'second', 10, { concurrency })
  await eventually(() => (all.marks.count('began', 'first') === 1 ? true : undefined), 'the first begins')
  const survivor = await all.start()
  expect(await all.run(second)).toMatchObject({ status: 'PENDING' })
  victim.kill('SIGKILL')
  expect(await all.ended(second)).toMatchObject({ status: 'SUCCEEDED', replicaId: survivor.id })
  expect(await all.run(first)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
})

test('a replica that was stopped for too long finds its runs gone, stops them, writes nothing, and is healthy again', async () => {
  const all = await fleet()
  const zombie = await all.start()
  const [once, again] = [
    await all.enqueue('markOnce', 'once', 600_000),
    await all.enqueue('markAgain', 'again', 600_000, { againMs: 4_000 }),
  ]
  await eventually(() => (all.marks.all().length === 2 ? true : undefined), 'both begin')
  const other = await all.start()
  zombie.kill('SIGSTOP')
  // By heartbeats: the lock of a stopped process stays.
  expect(await all.ended(once)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  await eventually(() => (all.marks.count('began', 'again') === 2 ? true : undefined), 'the other one starts it')
  zombie.kill('SIGCONT')
  await eventually(() => (zombie.said('this process was stopped for a while').length > 0 ? true : undefined), 'notices')
  await eventually(() => {
    const stopped = all.marks.all().filter(({ what, pid }) => what === 'stopped' && pid === zombie.pid)
    return stopped.length === 2 ? true : undefined
  }, 'stops its own threads')
  expect(await all.ended(again)).toMatchObject({ status: 'SUCCEEDED', replicaId: other.id, attempt: 2 })
  expect(await all.run(once)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  expect(all.marks.count('effect', 'once')).toBe(0)
  // It works on, and nobody takes it for dead.
  other.kill('SIGTERM')
  expect(await other.ended).toEqual({ code: 0, signal: null })
  const next = await all.enqueue('markOnce', 'next', 10)
  expect(await all.ended(next)).toMatchObject({ status: 'SUCCEEDED', replicaId: zombie.id })
  expect((await all.store.listNodes()).map(({ id, state }) => [id, state])).toEqual([[zombie.id, 'alive']])
})

test('a run that was set to RUNNING by hand for somebody who never lived is failed at the next check', async () => {
  const all = await fleet()
  await all.start({ Q_QUEUES: 'another' })
  const id = await all.enqueue('markOnce', 'by hand', 10)
  await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = ${id}`.execute(all.db)
  expect(await all.ended(id)).toMatchObject({
    status: 'FAILED',
    result: { code: 'WORKER_CRASHED', detail: 'Task run abandoned: owning replica stopped responding' },
  })
})
