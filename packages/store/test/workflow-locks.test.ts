/** A locked workflow, for instance by a step in a user's open transaction, delays no other workflow. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { WorkflowId } from '@q/store'
import { by, leaseOf } from './fixture.ts'
import { failed, step, workflowFixture } from './workflow-fixture.ts'

const { start, take, store, another, db } = await workflowFixture()

async function whileLocked<T>(id: WorkflowId, work: () => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.workflow WHERE id = ${id} FOR NO KEY UPDATE`.execute(trx)
    return work()
  })
}

/** Two workflows, each with one step that runs; the first is going to be locked. */
async function two(task: string) {
  const locked = await start({ steps: [step(task)] })
  const first = await take(task)
  const free = await start({ steps: [step(task)] })
  const second = await take(task)
  return { locked, free, first, second }
}

test('a step whose replica died is recovered while another workflow is locked', async () => {
  await store.reap({ by: 'reaper' }) // what other tests have left running
  const { locked, free } = await two('dead')
  const recovered = await whileLocked(locked.id, () => store.reap({ by: 'reaper' }))
  expect(recovered.ids).toEqual([free.run('dead')])
  expect(await free.status()).toBe('FAILED')
  expect((await store.reap({ by: 'reaper' })).ids).toEqual([locked.run('dead')])
})

test('a replica that recovers or releases its own runs does not wait for a locked workflow', async () => {
  const { locked, free, first, second } = await two('own')
  const own = {
    replicaId: 'replica-aaaa',
    hostname: 'h',
    leases: [first, second].map(leaseOf),
    onCrash: 'fail',
  } as const
  expect((await whileLocked(locked.id, () => store.recoverOwnTaskRuns(own))).ids).toEqual([free.run('own')])
  expect((await store.recoverOwnTaskRuns(own)).ids).toEqual([locked.run('own')])

  const next = await two('released')
  const leases = [next.first, next.second].map(leaseOf)
  const given = await whileLocked(next.locked.id, () => store.releaseTaskRuns(leases, undefined, { skipBusy: true }))
  expect(given).toEqual([next.free.run('released')])
})

test('a step expires while another workflow is locked', async () => {
  const late = step('late', [], { options: { expiresInMs: 1 } })
  const locked = await start({ steps: [late] })
  const free = await start({ steps: [late] })
  await sql`UPDATE q.task_run SET expires_at = clock_timestamp() - interval '1 s' WHERE task = 'late'`.execute(db)
  expect(await whileLocked(locked.id, () => store.expireTaskRuns(100))).toEqual([free.run('late')])
  expect(await store.expireTaskRuns(100)).toEqual([locked.run('late')])
})

test('cancelling several steps and ending one of them do not deadlock', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
  const other = another()
  for (let round = 0; round < 30; round++) {
    const workflow = await start({ steps: names.map((name) => step(name)) })
    const runs = await Promise.all(names.map((name) => take(name)))
    const last = { lease: leaseOf(runs.at(-1)!), outcome: failed, by }
    const [, [settled]] = await Promise.all([
      other.cancelTaskRuns(runs.map(({ runId }) => runId)),
      // Some time after: as many statements as the round says.
      (async () => {
        for (let before = 0; before < round % 6; before++) await sql`SELECT`.execute(db)
        return store.settleTaskRuns([last])
      })(),
    ])
    expect(settled).toBe('settled')
    expect(await workflow.states()).toMatchObject({ s11: 'FAILED TASK_ERROR' })
    await store.settleTaskRuns(runs.slice(0, -1).map((run) => ({ lease: leaseOf(run), outcome: failed, by })))
    expect(await workflow.status()).toBe('FAILED')
  }
})
