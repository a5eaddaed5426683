/** The process dies exactly between two steps. At each point the guarantees hold. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { eventually } from './fixture.ts'
import { markedRuns } from './marked-runs.ts'
import { startProcess } from './replica-process.ts'

const program = fileURLToPath(new URL('./cut-program.ts', import.meta.url))
/** In its payload, so that the answer which brings it can be recognised. */
const here = 'cut-here'

async function scene() {
  const runs = await markedRuns()
  const { url, db, store } = runs
  const env = { DATABASE_URL: url, Q_PRESET: 'fast' }
  return {
    ...runs,
    start: () => startProcess({ env }),
    /** One that will kill itself. */
    startDoomed: (cut: Record<string, string>) => startProcess({ env: { ...env, ...cut }, program }),
    async enqueue(task: 'markOnce' | 'markAgain', name: string, more: object = {}): Promise<RunId> {
      const id = await runs.enqueue(task, name, { ms: 10, ...more })
      await store.wakeQueue('default')
      return id
    },
    recoveries: () => db.selectFrom('q.recovery').selectAll().orderBy('run_id').execute(),
  }
}

const killed = { code: null, signal: 'SIGKILL' }
const crashed = { status: 'FAILED', result: { code: 'WORKER_CRASHED' } }

test('killed after a prefetch: the code never began, so another replica executes the run once, as its first attempt', async () => {
  const { start, startDoomed, enqueue, ended, marks } = await scene()
  const doomed = await startDoomed({ CUT_AT: here, Q_THREADS: '1', Q_PREFETCH: '1' })
  const busy = await enqueue('markOnce', 'busy', { ms: 600_000 })
  await eventually(() => (marks.count('began', 'busy') === 1 ? true : undefined), 'its slot is taken')
  const id = await enqueue('markOnce', here)
  expect(await doomed.ended).toEqual(killed)
  const survivor = await start()
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', replicaId: survivor.id, attempt: 1 })
  expect(marks.count('began', here)).toBe(1)
  expect(await ended(busy)).toMatchObject(crashed)
})

test.each([
  ['a claim whose answer it never read', { CUT_AT: here }],
  ['a start, before the code', { CUT_EVENT: 'run-started' }],
])(
  'after %s: a run that must not start twice has failed without having begun, a run that may is executed elsewhere',
  async (_, cut) => {
    const { start, startDoomed, enqueue, ended, marks } = await scene()
    const ids: RunId[] = []
    for (const task of ['markOnce', 'markAgain'] as const) {
      const doomed = await startDoomed(cut)
      ids.push(await enqueue(task, `${here} ${task}`))
      expect(await doomed.ended).toEqual(killed)
    }
    const survivor = await start()
    expect(await ended(ids[0]!)).toMatchObject({ ...crashed, attempt: 1 })
    expect(marks.count('began', `${here} markOnce`)).toBe(0)
    expect(await ended(ids[1]!)).toMatchObject({ status: 'SUCCEEDED', replicaId: survivor.id, attempt: 2 })
    expect(marks.count('began', `${here} markAgain`)).toBe(1)
  },
)

test('after the effect, before the outcome is written: an at-most-once run is not repeated, an at-least-once run is', async () => {
  const { start, startDoomed, enqueue, ended, marks } = await scene()
  const ids: RunId[] = []
  for (const task of ['markOnce', 'markAgain'] as const) {
    const doomed = await startDoomed({})
    ids.push(await enqueue(task, task, { thenDie: true }))
    expect(await doomed.ended).toEqual(killed)
  }
  const survivor = await start()
  expect(await ended(ids[0]!)).toMatchObject(crashed)
  expect(marks.count('effect', 'markOnce')).toBe(1)
  expect(await ended(ids[1]!)).toMatchObject({ status: 'SUCCEEDED', replicaId: survivor.id, attempt: 2 })
  expect(marks.count('effect', 'markAgain')).toBe(2)
})

test('after the outcome was written, before it was acknowledged: the run has ended, and no replica changes it', async () => {
  const { store, startDoomed, start, enqueue, ended, marks, recoveries } = await scene()
  // The answer to a finish: one row of two columns, the id of the run and its first fence.
  const doomed = await startDoomed({ CUT_AT: 'D[^]{4}\\x00\\x02[^]{4}\\d+\\x00\\x00\\x00\\x011C[^]{4}SELECT 1\\x00' })
  const id = await enqueue('markAgain', 'ended')
  expect(await doomed.ended).toEqual(killed)
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', replicaId: doomed.id, attempt: 1 })
  const survivor = await start()
  const orphan = await enqueue('markAgain', 'orphan')
  expect(await ended(orphan)).toMatchObject({ replicaId: survivor.id })
  expect(await store.getTaskRuns([id])).toMatchObject([{ status: 'SUCCEEDED', replicaId: doomed.id, attempt: 1 }])
  expect(marks.count('effect', 'ended')).toBe(1)
  expect(await recoveries()).toEqual([])
})

test('in the middle of a recovery: the transaction rolls back, and the next reaper recovers each run once', async () => {
  const { start, startDoomed, enqueue, ended, marks, recoveries } = await scene()
  const victim = await start()
  const once = await enqueue('markOnce', 'once', { ms: 600_000 })
  const again = await enqueue('markAgain', 'again', { ms: 600_000, againMs: 10 })
  await eventually(() => (marks.all().length === 2 ? true : undefined), 'both begin')
  const doomed = await startDoomed({ CUT_AT: 'WORKER_CRASHED', CUT_STATE: 'T' })
  victim.kill('SIGKILL')
  expect(await doomed.ended).toEqual(killed)
  expect(await recoveries()).toEqual([])
  const survivor = await start()
  expect(await ended(once)).toMatchObject(crashed)
  expect(await ended(again)).toMatchObject({ status: 'SUCCEEDED', replicaId: survivor.id, attempt: 2 })
  expect(await recoveries()).toMatchObject([
    { run_id: once, replica_id: victim.id, recovered_by: survivor.id, became: 'FAILED' },
    { run_id: again, replica_id: victim.id, recovered_by: survivor.id, became: 'AVAILABLE' },
  ])
})
