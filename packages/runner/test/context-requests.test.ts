/** Requests of running code under a lease that the database no longer accepts. */
import { expect, test } from 'vitest'
import type { RunId, Store } from '@q/store'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createContextRequests } from '../src/main/execute/context-requests.ts'
import type { ContextRequest } from '../src/protocol/messages.ts'

test.each<ContextRequest>([
  { verb: 'checkpoint', state: '1' },
  { verb: 'enqueue', task: 'child', payload: '{}', delayMs: null, priority: null },
])('a lost lease refuses a request and stops the run: %o', async (request) => {
  const lease = { runId: '7' as RunId, fence: 2 }
  const asked: unknown[] = []
  const lost = (shown: unknown) => {
    asked.push(shown)
    return Promise.resolve('lease-lost' as const)
  }
  const store = { checkpointTaskRun: lost, enqueueUnderLease: lost } as Partial<Store> as Store
  const requests = createContextRequests({
    store,
    observe: () => {},
    routeOf: () => Promise.resolve({ queue: 'default', settingsFor: () => ({ lane: 1 }) }),
    onEnqueued: () => {},
  })
  const facts = { lease, task: 'parent', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
  const monitor = createRunMonitors(1).open(facts, 0, 0)
  expect(await requests(monitor, 1, request)).toMatchObject({ id: 1, ok: false, refusal: { code: 'RUN_STOPPED' } })
  expect(asked).toEqual([lease])
  expect(monitor.stopReason).toBe('lease lost')
})
