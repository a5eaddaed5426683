import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture } from '../fixture.ts'

const { store, db, enqueue } = await fixture()

test('recoveries are listed newest first, in pages, by node, and by whether a review is pending', async () => {
  const [run] = await enqueue('crashed')
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by, beat_age_ms, code, reviewed_at, reviewed_by)
    VALUES (${run}, 1, 'CLAIMED', 'AVAILABLE', 'presence', 'n1', 'other', 5, NULL, NULL, NULL),
      (${run}, 2, 'RUNNING', 'FAILED', 'replica-beat', 'n1', 'other', 61000, 'WORKER_CRASHED', NULL, NULL),
      (${run}, 3, 'RUNNING', 'FAILED', 'replica-beat', 'n2', 'other', 61000, 'WORKER_CRASHED', now(), 'ada'),
      (999999, 3, 'RUNNING', 'FAILED', 'runner-beat', 'n2', 'other', NULL, 'WORKER_CRASHED', NULL, NULL)`.execute(db)
  const all = await store.listRecoveries()
  expect(all.items.map(({ task, became, needsReview }) => [task, became, needsReview])).toEqual([
    [null, 'FAILED', true],
    ['crashed', 'FAILED', false],
    ['crashed', 'FAILED', true],
    ['crashed', 'AVAILABLE', false],
  ])
  expect(all.items[1]).toMatchObject({ reviewedBy: 'ada', beatAgeMs: 61_000, code: 'WORKER_CRASHED', runId: run })
  expect(all.next).toBeUndefined()
  expect((await store.listRecoveries({ node: 'n1' })).items).toHaveLength(2)
  expect((await store.listRecoveries({ toReview: true })).items.map(({ replicaId }) => replicaId)).toEqual(['n2', 'n1'])
  const first = await store.listRecoveries({ limit: 3 })
  expect(first.items).toHaveLength(3)
  expect((await store.listRecoveries({ before: first.next! })).items).toEqual(all.items.slice(3))
  await expect(store.listRecoveries({ before: 'x' })).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
})
