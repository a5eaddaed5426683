/** kill -9 and SIGSTOP, of real processes. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import type { RunId } from '@q/store'
import { eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { fleet, type Fleet } from './fleet.ts'
import type { ReplicaProcess } from './replica-process.ts'

/** One replica watches, and all are present: a death is noticed by presence only after the session of the replica was open. */
async function watched({ db, watcher }: Fleet, replicas: readonly ReplicaProcess[]): Promise<void> {
  await eventually(async () => {
    const id = await watcher()
    const present = await db.selectFrom('q.presence').select('replica_id').where('gone_at', 'is', null).execute()
    const isPresent = (replica: ReplicaProcess) => present.some(({ replica_id }) => replica_id === replica.id)
    return replicas.some((replica) => replica.id === id) && replicas.every(isPresent) ? true : undefined
  }, 'a replica watches, and all are present')
}

async function heldBy({ store }: Fleet, replica: ReplicaProcess) {
  return (await store.heldTaskRuns(replica.id)).map(({ runId, status }) => ({ runId, status }))
}

test.each(['the watcher', 'the other replica'])(
  'kill -9 of %s: a run that must not start twice has failed, a run that may has succeeded elsewhere, a claimed run was executed once',
  async (who) => {
    const all = await fleet()
    // Heartbeats of this preset are stale after a minute: only the presence can show the death in time.
    const env = { Q_PREFETCH: '1', Q_PRESET: 'default' }
    const replicas = [await all.start(env), await all.start(env)]
    await watched(all, replicas)
    const watcher = await all.watcher()
    const victim = replicas.find(({ id }) => (id === watcher) === (who === 'the watcher'))!
    const survivor = replicas.find((replica) => replica !== victim)!
    const tasks = ['markOnce', 'markAgain', 'markOnce', 'markAgain', 'markOnce', 'markAgain'] as const
    const { file: until, open } = gate()
    const ids = await Promise.all(tasks.map((task, index) => all.enqueue(task, `${index}`, 0, { until })))
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
    open()
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
      // A suspect is started in a process of its own. (The task returns its pid.)
      const place = run.result === survivor.pid ? 'thread' : 'child process'
      expect(failed ? 'none' : place).toBe(failed ? 'none' : crashed ? 'child process' : 'thread')
      // The claimed run, and the run that the other replica had from the start, were started once.
      expect(all.marks.count('began', `${index}`)).toBeLessThanOrEqual(crashed ? 2 : 1)
    }
    const recoveries = await all.db.selectFrom('q.recovery').selectAll().execute()
    expect(recoveries.map(({ run_id }) => run_id).toSorted()).toEqual(held.map(({ runId }) => runId).toSorted())
    for (const recovery of recoveries) expect(recovery).toMatchObject({ cause: 'presence', recovered_by: survivor.id })
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

test('a replica that was stopped for too long stops the runs it lost, writes nothing for them, and becomes healthy again', async () => {
  const all = await fleet()
  const zombie = await all.start({ Q_THREADS: '3' })
  const { file: until, open } = gate()
  const [once, again, due] = [
    await all.enqueue('markOnce', 'once', 600_000),
    await all.enqueue('markAgain', 'again', 0, { until }),
    // Its time passes while the process is stopped: its outcome is the first write of the zombie.
    await all.enqueue('markOnce', 'due', 3_000, { deaf: true }),
  ]
  await eventually(() => (all.marks.all().length === 3 ? true : undefined), 'all begin')
  zombie.kill('SIGSTOP')
  const other = await all.start()
  // By heartbeats: the lock of a stopped process stays.
  for (const id of [once, due])
    expect(await all.ended(id)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  await eventually(() => (all.marks.count('began', 'again') === 2 ? true : undefined), 'the other one starts it')
  zombie.kill('SIGCONT')
  await eventually(() => (zombie.said('this process was suspended').length > 0 ? true : undefined), 'notices')
  await eventually(() => {
    const stopped = all.marks.all().filter(({ what, pid }) => what === 'stopped' && pid === zombie.pid)
    return stopped.length === 2 ? true : undefined
  }, 'stops its own threads')
  open()
  expect(await all.ended(again)).toMatchObject({ status: 'SUCCEEDED', replicaId: other.id, attempt: 2 })
  expect(all.marks.count('effect', 'once')).toBe(0)
  // Its writes were refused, and events record that.
  const lostLease = await eventually(
    () => zombie.said('lost lease: the result of this run does not count')[0],
    'it learns',
  )
  expect(lostLease).toMatchObject({ task: expect.stringMatching(/^mark/) })
  const refusedOf = async (id: RunId) => (await all.store.getTaskRun(id))!.events.map(({ kind }) => kind)
  await eventually(async () => ((await refusedOf(due)).includes('refused-settle') ? true : undefined), 'refused')
  for (const id of [once, due])
    expect(await all.run(id)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' }, attempt: 1 })
  // It continues to work, and no replica considers it dead.
  other.kill('SIGTERM')
  expect(await other.ended).toEqual({ code: 0, signal: null })
  const next = await all.enqueue('markOnce', 'next', 10)
  expect(await all.ended(next)).toMatchObject({ status: 'SUCCEEDED', replicaId: zombie.id })
  expect((await all.store.listNodes()).map(({ id, state }) => [id, state])).toEqual([[zombie.id, 'alive']])
})

test('a run that manual SQL set to RUNNING for a replica that does not exist is failed at the next check', async () => {
  const all = await fleet()
  await all.start({ Q_QUEUES: 'another' })
  const id = await all.enqueue('markOnce', 'manual', 10)
  await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = ${id}`.execute(all.db)
  expect(await all.ended(id)).toMatchObject({
    status: 'FAILED',
    result: { code: 'WORKER_CRASHED', detail: 'Task run abandoned: owning replica stopped responding' },
  })
})
