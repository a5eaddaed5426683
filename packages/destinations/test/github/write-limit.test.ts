import { expect, test } from 'vitest'
import { writeLimit } from '../../src/github/api/write-limit.ts'
import { sharedState } from '../memory-state.ts'

const shop = { owner: 'acme', repo: 'shop' }

function limited(): { clock: { nowMs: number }; limit: ReturnType<typeof writeLimit> } {
  const clock = { nowMs: 0 }
  const limit = writeLimit({
    shared: sharedState(),
    apiUrl: 'https://api.github.com',
    nowMs: () => clock.nowMs,
    pause(ms) {
      clock.nowMs += ms
      return Promise.resolve()
    },
  })
  return { clock, limit }
}

function mostWithin(times: readonly number[], windowMs: number): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + windowMs).length))
}

test.each([
  { urgency: 'recovery', perHour: 300, perMinute: 30 },
  { urgency: 'other', perHour: 200, perMinute: 20 },
] as const)(
  'a sender that always wants to write $urgency reports writes at most $perHour an hour and $perMinute a minute, a second apart',
  async ({ urgency, perHour, perMinute }) => {
    const { clock, limit } = limited()
    const times: number[] = []
    while (times.length < 700) {
      clock.nowMs += await limit.waitMs(shop, 1, urgency)
      await limit.next(shop)
      times.push(clock.nowMs)
    }
    expect(mostWithin(times, 3_600_000)).toBe(perHour)
    expect(mostWithin(times, 60_000)).toBe(perMinute)
    expect(mostWithin(times, 1000)).toBe(1)
  },
)

test('a report that takes several writes waits until all of them fit', async () => {
  const { clock, limit } = limited()
  for (let write = 0; write < 28; write++) await limit.next(shop)
  expect(await limit.waitMs(shop, 2, 'recovery')).toBe(0)
  expect(await limit.waitMs(shop, 4, 'recovery')).toBe(60_000 + 1000 - clock.nowMs)
  expect(await limit.waitMs({ owner: 'acme', repo: 'other' }, 4, 'recovery')).toBe(0)
})

test('several senders at once keep writes to one repository a second apart, and count each one', async () => {
  const clock = { nowMs: 0 }
  const shared = sharedState()
  const ports = {
    shared,
    nowMs: () => clock.nowMs,
    /** Other senders go on during a pause. */
    async pause(ms: number) {
      const until = clock.nowMs + ms
      await new Promise((resolve) => setImmediate(resolve))
      clock.nowMs = Math.max(clock.nowMs, until)
    },
  }
  const apiUrl = 'https://api.github.com'
  const senders = Array.from({ length: 4 }, () => writeLimit({ ...ports, apiUrl }))
  const times: number[] = []
  await Promise.all(
    senders.map(async (sender) => {
      for (let write = 0; write < 5; write++) {
        await sender.next(shop)
        times.push(clock.nowMs)
      }
    }),
  )
  expect(times).toHaveLength(20)
  expect(mostWithin(times, 1000)).toBe(1)
  expect(await senders[0]?.waitMs(shop, 1, 'other')).toBeGreaterThan(0)
  const elsewhere = writeLimit({ ...ports, apiUrl: 'https://github.acme.example/api/v3' })
  expect(await elsewhere.waitMs(shop, 1, 'other')).toBe(0)
})
