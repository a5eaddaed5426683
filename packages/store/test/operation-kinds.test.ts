/** The kinds of operations: cancel, retry of workflow steps, review. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { RunFilter } from '@q/store'
import { operationFixture } from './operation-fixture.ts'
import { failed, step } from './workflow-fixture.ts'

const scene = await operationFixture()

const { db, store, enqueue, claim, row, toEnd, epochs } = scene

test('a cancel ends waiting runs, and requests a stop of running ones', async () => {
  await enqueue('cancelled', { count: 3 })
  const [running] = await claim('cancelled', 1)
  const asked = await store.requestOperation({ kind: 'cancel', filter: { task: 'cancelled' }, by: 'ada' })
  expect(await toEnd(store, asked)).toMatchObject({ changed: 3, answers: { cancelled: 2, requested: 1 } })
  expect((await row(running!.runId)).cancel_requested_at).not.toBeNull()
  expect(await epochs('cancelled')).toEqual({ 'CANCELLED 1': 2, 'RUNNING 1': 1 })
})

test('failed steps of workflows are retried with their workflows', async () => {
  const first = await scene.start({ steps: [step('w-a'), step('w-b', ['w-a'])] })
  const second = await scene.start({ steps: [step('w-a'), step('w-b', ['w-a'])] })
  await scene.end('w-a', failed)
  await scene.end('w-a', failed)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'w-a' }, by: 'ada' })
  expect(await toEnd(store, asked)).toMatchObject({ answers: { retried: 2 } })
  for (const workflow of [first, second]) {
    expect(await workflow.status()).toBe('RUNNING')
    expect(await workflow.states()).toEqual({ 'w-a': 'AVAILABLE', 'w-b': 'PENDING' })
  }
})

test('a review accepts the recoveries of the runs that match, and only of them', async () => {
  const filter: RunFilter = { task: 'lost' }
  await sql`DELETE FROM q.task_run WHERE held`.execute(db)
  await enqueue('lost', { count: 3 })
  await enqueue('left')
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'dead' WHERE task IN ('lost', 'left')`.execute(db)
  await store.reap({ by: 'reaper' })
  expect((await store.previewOperation('review', filter)).match.count).toBe(3)
  const asked = await store.requestOperation({ kind: 'review', filter, by: 'ada' })
  expect(await toEnd(store, asked)).toMatchObject({ answers: { reviewed: 3 } })
  expect((await store.previewOperation('review', filter)).match.count).toBe(0)
  const { rows } = await sql<{ task: string; by: string | null }>`
    SELECT DISTINCT r.task, v.reviewed_by AS by FROM q.recovery v JOIN q.task_run r ON r.id = v.run_id ORDER BY r.task`.execute(
    db,
  )
  expect(rows).toEqual([
    { task: 'left', by: null },
    { task: 'lost', by: 'ada' },
  ])
})
