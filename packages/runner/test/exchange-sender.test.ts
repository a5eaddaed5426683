import { expect, test } from 'vitest'
import type { Connection } from '@q/store'
import { createExchangeSender } from '../src/main/claim/exchange-sender.ts'
import { createExchangeMeter } from '../src/main/stats/exchange-meter.ts'

/** A connection that answers each claim at once, and its look when the test says so. */
function sender(look: Promise<unknown[]>) {
  const connection = {
    db: { executeQuery: async () => ({ rows: [] }) },
    pipeline: async () => ({ rows: [], after: look }),
  } as unknown as Connection
  const created = createExchangeSender({
    replicaId: 'replica-aaaa',
    tasks: ['t'],
    tracing: false,
    config: { pollEveryMs: 60_000, queues: [], queueWeights: {}, capabilities: [] },
    exchangeMeter: createExchangeMeter(),
    nowMs: () => 0,
  })
  const exchange = () => created.over(connection)({ finishes: [], starts: [], claim: 1, prefetch: 0 })
  return { ...created, exchange }
}

test('an exchange is under way until its look is answered, so that the second one writes successes in the meantime', async () => {
  const look = Promise.withResolvers<unknown[]>()
  const { exchange, underWay } = sender(look.promise)
  const { more } = await exchange()
  expect(underWay()).toBe(1)
  look.resolve([])
  await more
  await expect.poll(underWay).toBe(0)
})

test('a look that fails ends its exchange, and a pause does not wait for a look', async () => {
  const look = Promise.withResolvers<unknown[]>()
  const { exchange, underWay, pause } = sender(look.promise)
  await exchange()
  await pause()
  expect(underWay()).toBe(1)
  look.reject(new Error('The server is gone.'))
  await expect.poll(underWay).toBe(0)
})
