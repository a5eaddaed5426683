/** Requests of running code under a lease that the database no longer accepts. */
import { expect, test } from 'vitest'
import type { RunId, Store } from '@q/store'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { createRequests } from '../src/main/requests.ts'
import type { Ask } from '../src/protocol.ts'

test.each<Ask>([
  { verb: 'checkpoint', state: '1' },
  { verb: 'enqueue', task: 'child', payload: '{}', delayMs: null, priority: null },
])('a lost lease refuses a request and stops the run: %o', async (ask) => {
  const lease = { runId: '7' as RunId, fence: 2 }
  const asked: unknown[] = []
  const lost = (shown: unknown) => {
    asked.push(shown)
    return Promise.resolve('lease-lost' as const)
  }
  const store = { checkpointTaskRun: lost, enqueueUnderLease: lost } as Partial<Store> as Store
  const requests = createRequests({
    store,
    observe: () => {},
    findDestination: () => Promise.resolve({ queue: 'default', settingsFor: () => ({ lane: 1 }) }),
    onEnqueued: () => {},
  })
  const facts = { lease, task: 'parent', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
  const pulse = createPulseBoard(1).open(facts, 0, 0)
  expect(await requests(pulse, 1, ask)).toMatchObject({ id: 1, ok: false, refusal: { code: 'RUN_STOPPED' } })
  expect(asked).toEqual([lease])
  expect(pulse.stopReason).toBe('lease lost')
})
