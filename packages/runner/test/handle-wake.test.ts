/** Which wakes make a replica look for runs. */
import type { Wake } from '@q/store'
import { expect, test } from 'vitest'
import { handleWake } from '../src/main/liveness/handle-wake.ts'

function looks(serves: { queues?: string[]; capabilities?: string[] }, wake: Wake): boolean {
  let looked = false
  const nothing = () => {}
  const signals = {
    runsReady: () => void (looked = true),
    promoteKey: nothing,
    dueIn: nothing,
    wakeSchedules: nothing,
    operationRequested: nothing,
    destinationsChanged: nothing,
  }
  const deps = { replicaId: 'r', serves: { queues: [], capabilities: [], ...serves }, signals }
  handleWake({ ...deps, checkForCancels: nothing, beat: nothing }, wake)
  return looked
}

const available = (queue: string, requires: string[] = []): Wake => ({ channel: 'q_available', queue, requires })

test('a replica looks for runs of queues that it serves, and of all queues if it names none', () => {
  expect(looks({ queues: ['cpu'] }, available('cpu'))).toBe(true)
  expect(looks({ queues: ['cpu'] }, available('mail'))).toBe(false)
  expect(looks({}, available('mail'))).toBe(true)
})

test('a replica looks only if it has every capability that the run requires', () => {
  expect(looks({ capabilities: ['gpu', 'eu'] }, available('cpu', ['gpu']))).toBe(true)
  expect(looks({ capabilities: ['eu'] }, available('cpu', ['gpu', 'eu']))).toBe(false)
})

test('a wake of an earlier release names no capabilities, so every replica of its queue looks', () => {
  expect(looks({ queues: ['cpu'] }, { channel: 'q_ready', queue: 'cpu' })).toBe(true)
  expect(looks({ queues: ['cpu'] }, { channel: 'q_ready', queue: 'mail' })).toBe(false)
})
