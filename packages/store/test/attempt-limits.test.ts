/** Runs with very many attempts. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Outcome, RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, claim, db } = await fixture()

async function setAttempts(id: RunId, attempt: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(trx)
    await trx.updateTable('q.task_run').set({ attempt }).where('id', '=', id).execute()
  })
}

test('the delay of a run that has failed very often stays at its cap', async () => {
  const [id] = await enqueue('restless', { maxAttempts: 10_000 })
  await setAttempts(id!, 9_000)
  const claimed = await claimOne('restless')
  const retry = { delayMs: 60_000, delayMsMax: 100_000 }
  const outcome: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no', retry }
  expect(await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome, by }])).toEqual(['retried'])
  const { rows } = await sql<{ delay_ms: number }>`
    SELECT extract(epoch FROM run_at - updated_at)::float8 * 1000 AS delay_ms FROM q.task_run WHERE id = ${id}`.execute(
    db,
  )
  expect(rows[0]!.delay_ms).toBeLessThanOrEqual(100_000)
})

test('a run that crashes in the last attempt that can be counted does not prevent claims', async () => {
  const [last, other] = await enqueue('tireless', { count: 2, maxAttempts: 32_767, onCrash: 'retry' })
  await setAttempts(last!, 32_766)
  const lease = leaseOf(await claimOne('tireless'))
  const crash: Outcome = { status: 'FAILED', code: 'WORKER_CRASHED', detail: 'died', crashed: true }
  expect(await store.settleTaskRuns([{ lease, outcome: crash, by }])).toEqual(['retried'])
  const claimed = await claim('tireless', 2)
  expect(claimed.map(({ runId, attempt }) => [runId, attempt])).toEqual([
    [last, 32_767],
    [other, 1],
  ])
})
