import { describe, expect, test } from 'vitest'
import { createBacklog } from '../src/main/claim/backlog.ts'

/** An exchange that took `tookMs`, at 1000. */
function afterExchange({ more = true, exclusive = false, tookMs = 2, brought = 1, startAheadMs = 25 } = {}) {
  const backlog = createBacklog({ startAheadMs })
  backlog.sent(1_000 - tookMs)
  backlog.record({ more, claimed: brought, exclusive }, 1_000)
  return backlog
}

describe('runs are started ahead', () => {
  test('only after an exchange has shown that more are ready', () => {
    expect(createBacklog({ startAheadMs: 25 }).allowsStartAhead()).toBe(false)
    expect(afterExchange().allowsStartAhead()).toBe(true)
    expect(afterExchange({ more: false }).allowsStartAhead()).toBe(false)
  })

  test('until an exchange shows that no more are ready', () => {
    const backlog = afterExchange()
    backlog.record({ more: false, claimed: 1, exclusive: false }, 1_010)
    expect([backlog.isSeen(), backlog.allowsStartAhead()]).toEqual([false, false])
  })

  test('not while runs come that need a slot each; an exchange that brings none does not change that', () => {
    const backlog = afterExchange({ exclusive: true })
    expect([backlog.isSeen(), backlog.allowsStartAhead()]).toEqual([true, false])
    backlog.record({ more: true, claimed: 0, exclusive: false }, 1_010)
    expect(backlog.allowsStartAhead()).toBe(false)
    backlog.record({ more: true, claimed: 1, exclusive: false }, 1_020)
    expect(backlog.allowsStartAhead()).toBe(true)
  })
})

describe('the next exchange', () => {
  test('waits until a thread is about to run out of work', () => {
    const backlog = afterExchange()
    expect(backlog.exchangeInMs(1_000, [100, 10], 1)).toBe(6)
    expect(backlog.exchangeInMs(1_000, [4], 1)).toBe(0)
    expect(backlog.exchangeInMs(1_000, [0], 1)).toBe(0)
  })

  test('serves all threads that run out of work at about the same time', () => {
    expect(afterExchange({ tookMs: 80 }).exchangeInMs(1_000, [0, 2, 50], 1)).toBe(2)
  })

  test('comes earlier when round trips are slow', () => {
    expect(afterExchange({ tookMs: 80 }).exchangeInMs(1_000, [30], 1)).toBe(0)
  })

  test('waits for a short time at most, counted from the last one', () => {
    const backlog = afterExchange()
    expect(backlog.exchangeInMs(1_000, [1_000], 1)).toBe(13)
    expect(backlog.exchangeInMs(1_013, [1_000], 1)).toBe(0)
  })

  test('waits longer when threads get work for longer: half of that time', () => {
    expect(afterExchange({ startAheadMs: 60 }).exchangeInMs(1_000, [1_000], 1)).toBe(28)
  })

  test('does not wait when many outcomes wait to be written', () => {
    const backlog = afterExchange()
    expect(backlog.exchangeInMs(1_000, [1_000], 256)).toBe(0)
    expect(backlog.exchangeInMs(1_000, [1_000], 255)).toBeGreaterThan(0)
  })
})
