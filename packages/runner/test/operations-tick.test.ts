/** When a replica looks for operations again. */
import type { Operation, StepAnswer } from '@q/store'
import { expect, test } from 'vitest'
import type { RunnerEvent } from '../src/main/events.ts'
import { operationsTick } from '../src/main/maintenance/operations.ts'

const worked = {
  id: '1',
  kind: 'retry',
  askedBy: 'ada',
  state: 'running',
  looked: 1,
  changed: 1,
  finishedAt: null,
} as Operation

async function tick(answer: StepAnswer, tookMs = 0) {
  const events: RunnerEvent[] = []
  let ms = 0
  const store = { stepOperations: async () => ((ms += tookMs), answer) }
  const { afterMs } = await operationsTick({
    store,
    replicaId: 'r',
    observe: (event) => void events.push(event),
    nowMs: () => ms,
  })
  return { afterMs, events }
}

test('without an open operation it looks once a minute', async () => {
  expect(await tick({ worked: undefined })).toEqual({ afterMs: 60_000, events: [] })
})

test('an operation of another replica is checked when its lease would expire, at most once a second', async () => {
  const { afterMs } = await tick({ worked: undefined, leasedForMs: 9_000 })
  expect(afterMs).toBeGreaterThanOrEqual(9_000)
  expect(afterMs).toBeLessThan(10_000)
  expect((await tick({ worked: undefined, leasedForMs: 0 })).afterMs).toBeGreaterThanOrEqual(1_000)
})

test('after a step it pauses for longer than the step took', async () => {
  expect((await tick({ worked }, 200)).afterMs).toBe(800)
})

test('the end of an operation is reported', async () => {
  const { events } = await tick({ worked: { ...worked, state: 'done', finishedAt: new Date() } })
  expect(events).toEqual([
    { type: 'operation-ended', id: '1', kind: 'retry', askedBy: 'ada', state: 'done', looked: 1, changed: 1 },
  ])
})
