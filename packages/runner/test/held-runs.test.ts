import { expect, test } from 'vitest'
import type { ClaimedRun, HeldRun } from '@q/store'
import { createHeldRuns } from '../src/main/liveness/held-runs.ts'

function run(runId: string, status: HeldRun['status'] = 'RUNNING') {
  return { runId, fence: 1, status } as HeldRun & ClaimedRun
}
const lease = (runId: string) => ({ runId, fence: 1 })

test('a run that the database says this replica holds, and that it does not know, is an orphan', async () => {
  const heldRuns = createHeldRuns()
  await heldRuns.claiming(0, async () => [run('1')])
  expect(heldRuns.orphans([run('1'), run('2', 'CLAIMED')])).toEqual({ neverBegan: [lease('2')], began: [] })
})

test('a claim in flight may have claimed it; a claim that began later may not', async () => {
  const heldRuns = createHeldRuns()
  const answer = Promise.withResolvers<ClaimedRun[]>()
  const claiming = heldRuns.claiming(0, () => answer.promise)
  expect(heldRuns.orphans([run('1'), run('2')])).toEqual({ neverBegan: [], began: [] })
  const later = Promise.withResolvers<ClaimedRun[]>()
  void heldRuns.claiming(0, () => later.promise)
  answer.resolve([run('1')])
  await claiming
  expect(heldRuns.orphans([run('1'), run('2')])).toEqual({ neverBegan: [lease('2')], began: [] })
  later.resolve([])
})

test('a claim whose response was lost leaves orphans that never began', async () => {
  const heldRuns = createHeldRuns()
  await expect(heldRuns.claiming(0, () => Promise.reject(new Error('cut')))).rejects.toThrow('cut')
  expect(heldRuns.orphans([run('1')])).toEqual({ neverBegan: [lease('1')], began: [] })
})

test('a run whose code began here and ended without a report is known to have begun', async () => {
  const heldRuns = createHeldRuns()
  await heldRuns.claiming(0, async () => [run('1')])
  heldRuns.begun(run('1'))
  expect(heldRuns.orphans([run('1')])).toEqual({ neverBegan: [], began: [] })
  heldRuns.ended(run('1'))
  expect(heldRuns.orphans([run('1')])).toEqual({ neverBegan: [], began: [lease('1')] })
})
