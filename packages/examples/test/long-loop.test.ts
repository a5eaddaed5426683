import { expect, test } from 'vitest'
import { queue } from '@q/client'
import type * as tasks from '../src/long-loop/tasks.ts'
import { replicaWith } from './replica.ts'

test('a later attempt begins where the last checkpoint was', async () => {
  const { url, store } = await replicaWith(new URL('../src/long-loop/tasks.ts', import.meta.url))
  const q = queue<typeof tasks>(url)
  const run = await q.enqueue('sumRows', { rows: 5_000 })
  const first = await run.result({ timeout: '100s' })
  expect(first.begunAt).toBe(0)
  expect((await store.getTaskRun(run.id))?.run.checkpoint).toMatchObject({ state: { row: 4_000 } })
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
  // A manual retry finds its checkpoint too.
  expect(await q.retry(run)).toBe('retried')
  expect(await run.result({ timeout: '100s' })).toEqual({ sum: first.sum, begunAt: 4_000 })
  await q.close()
})
