import { expect, test } from 'vitest'
import { checkpointTaskRun } from '@q/store'
import { sql } from 'kysely'
import { fixture, leaseOf } from './fixture.ts'

const { store, db, enqueue, claimOne, row } = await fixture()

async function running(task: string) {
  await enqueue(task)
  return leaseOf(await claimOne(task))
}

test('a later attempt gets the last checkpoint', async () => {
  const lease = await running('saved')
  expect(await store.checkpointTaskRun(lease, '{"at":1}')).toBe('saved')
  expect(await store.checkpointTaskRun(lease, '[2, "😀"]')).toBe('saved')
  expect(await row(lease.runId)).toMatchObject({ checkpoint: [2, '😀'] })
})

test('a lost lease saves nothing, and one event records that', async () => {
  const old = await running('lost')
  await store.checkpointTaskRun(old, '{"at":1}')
  await store.releaseTaskRuns([old])
  expect(await store.checkpointTaskRun(old, '{"at":2}')).toBe('lease-lost')
  expect(await store.checkpointTaskRun(old, '{"at":3}')).toBe('lease-lost')
  expect(await row(old.runId)).toMatchObject({ checkpoint: { at: 1 } })
  const { timeline, events } = (await store.getTaskRun(old.runId))!
  expect(events).toMatchObject([{ kind: 'refused-checkpoint', fence: old.fence }])
  expect(timeline.map(({ what }) => what)).toEqual(['enqueued', 'started', 'released', 'noted'])
  expect(timeline.at(-1)).toMatchObject({ what: 'noted', kind: 'refused-checkpoint', fence: old.fence })
})

test.each([
  ['text that is no JSON', '{"at":', 'CHECKPOINT_NOT_JSON'],
  ['no text at all', '', 'CHECKPOINT_NOT_JSON'],
  ['NUL', String.raw`{"a":"\u0000"}`, 'CHECKPOINT_UNSTORABLE'],
  ['half a surrogate pair', String.raw`"\uD800"`, 'CHECKPOINT_UNSTORABLE'],
  ['a number beyond all numbers', '{"n":1e400}', 'CHECKPOINT_UNSTORABLE'],
  ['many levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'CHECKPOINT_UNSTORABLE'],
  ['more than 1 MiB', `"${'x'.repeat(1_048_576)}"`, 'CHECKPOINT_TOO_LARGE'],
  ['more than 1 MiB of wide characters', `"${'日'.repeat(400_000)}"`, 'CHECKPOINT_TOO_LARGE'],
])('%s is refused with a code, and the checkpoint before it stays', async (_, state, code) => {
  const lease = await running('refused')
  await store.checkpointTaskRun(lease, '{"at":1}')
  await expect(store.checkpointTaskRun(lease, state)).rejects.toMatchObject({ code, why: expect.any(String) })
  expect(await row(lease.runId)).toMatchObject({ checkpoint: { at: 1 }, status: 'RUNNING' })
})

test('a refused checkpoint does not roll back its transaction', async () => {
  const lease = await running('part')
  const one = await db.transaction().execute(async (trx) => {
    await checkpointTaskRun(trx, lease, '{"at":1}')
    await expect(checkpointTaskRun(trx, lease, String.raw`"\u0000"`)).rejects.toMatchObject({
      code: 'CHECKPOINT_UNSTORABLE',
    })
    return (await sql<{ one: number }>`SELECT 1 AS one`.execute(trx)).rows
  })
  expect(one).toEqual([{ one: 1 }])
  expect(await row(lease.runId)).toMatchObject({ checkpoint: { at: 1 } })
})
