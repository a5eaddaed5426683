/** Rounds of the loop that opens the gate `time`; the clock is a number here. */
import { expect, test } from 'vitest'
import { createPromoter } from '../src/main/claim/promote.ts'
import { createPolling } from '../src/main/claim/polling.ts'

/** A promoter whose store answers when the next runs are due, and its clock. */
function promoter(dues: (number | undefined)[], looked = 1) {
  const now = { ms: 0 }
  const done: string[] = []
  const promoting = createPromoter({
    store: {
      promoteKeys: async () => [],
      nextDueInMs: async () => dues.shift(),
      async promoteDueTaskRuns() {
        done.push('promoted')
        return { ids: [], looked }
      },
    },
    polling: createPolling(1_000, () => false),
    nowMs: () => now.ms,
    takeKeys: () => [],
    onPromoted: () => void done.push('looks'),
    wake: () => void done.push('woken'),
  })
  return { ...promoting, now, done }
}

test('the next round begins when the next run is due, and at the latest with the next poll', async () => {
  const { tick, done } = promoter([300, undefined, 5_000, 0])
  expect([await tick(), await tick(), await tick()]).toEqual([{ afterMs: 300 }, { afterMs: 1_000 }, { afterMs: 1_000 }])
  expect(done).toEqual([])
  expect(await tick()).toEqual({ afterMs: 0 })
  expect(done).toEqual(['promoted', 'looks'])
})

test('the loop pauses before it looks again for due runs that another transaction has locked', async () => {
  const { tick } = promoter([0], 0)
  expect((await tick()).afterMs).toBeGreaterThan(0)
})

test('a run that is due before the next round starts it earlier, a run that is due later does not', async () => {
  const { tick, dueIn, now, done } = promoter([300])
  await tick()
  now.ms = 100
  dueIn(200)
  expect(done).toEqual([])
  dueIn(199)
  expect(done).toEqual(['woken'])
})

test('a run that becomes due during a round is promoted in time', async () => {
  const { tick, dueIn, done } = promoter([undefined])
  const round = tick()
  dueIn(60_000)
  await round
  expect(done).toEqual(['woken'])
})
