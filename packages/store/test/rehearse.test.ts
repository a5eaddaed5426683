/** A rehearsal says what the verbs would answer for these runs, one after the other, and changes nothing. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { retryTaskRun } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, db, enqueue, claim } = await fixture()

test('of two runs with one unique key only the first would be retried, as in earnest; a third run is not affected', async () => {
  const ids = await enqueue('keyed', { count: 3 })
  const failed = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' } as const
  await store.settleTaskRuns((await claim('keyed', 3)).map((run) => ({ lease: leaseOf(run), outcome: failed, by })))
  await sql`UPDATE q.task_run SET unique_key = 'one' WHERE id = ANY(${ids.slice(0, 2)}::bigint[])`.execute(db)
  const answers = ['retried', 'conflict', 'retried', 'not-ended']
  const order = [...ids, ids[0]!]
  expect(await store.rehearseRetry(order)).toEqual(answers)
  expect(
    await db.transaction().execute((trx) => sql`SELECT status FROM q.task_run ORDER BY id`.execute(trx)),
  ).toMatchObject({
    rows: ids.map(() => ({ status: 'FAILED' })),
  })
  const inEarnest: string[] = []
  for (const id of order) inEarnest.push(await retryTaskRun(db, id))
  expect(inEarnest).toEqual(answers)
})
