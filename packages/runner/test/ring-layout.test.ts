import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createRing,
  endByMessage,
  endWithResult,
  mustSignal,
  putWaiting,
  resultOf,
  ringEntries,
  ringOf,
  setSignalEnds,
  stateOf,
  takeSignal,
  tookMsOf,
  tryBegin,
  tryDecline,
  tryWithdraw,
  type EntryState,
  type Ring,
} from '../src/protocol/ring-layout.ts'

/** A ring in which run `seq` waits. */
function ringWith(...seqs: number[]): Ring {
  const ring = createRing()
  for (const seq of seqs) putWaiting(ring, seq)
  return ring
}

const ways = { begin: tryBegin, withdraw: tryWithdraw, decline: tryDecline }
const stateAfter: Record<keyof typeof ways, EntryState> = { begin: 'begun', withdraw: 'withdrawn', decline: 'declined' }
const names = Object.keys(ways) as (keyof typeof ways)[]
const pairs = names.flatMap((first) => names.map((second) => [first, second] as const))

test.each(pairs)('of begin, withdraw and decline exactly one succeeds: %s before %s', (first, second) => {
  const ring = ringWith(1)
  expect(ways[first](ring, 1)).toBe(true)
  expect(ways[second](ring, 1)).toBe(false)
  expect(stateOf(ring, 1)).toBe(stateAfter[first])
})

test.each(names)('a run that has ended can no longer %s', (way) => {
  const ring = ringWith(1)
  tryBegin(ring, 1)
  endWithResult(ring, 1, 1, '1')
  expect(ways[way](ring, 1)).toBe(false)
  expect(stateOf(ring, 1)).toBe('ended')
})

describe('an entry that was reused', () => {
  const [old, later] = [1, 1 + ringEntries]

  test.each(names)('does not let the old command %s', (way) => {
    const ring = ringWith(old)
    tryWithdraw(ring, old)
    putWaiting(ring, later)
    expect(ways[way](ring, old)).toBe(false)
    expect([stateOf(ring, old), stateOf(ring, later)]).toEqual(['free', 'waiting'])
    expect(ways[way](ring, later)).toBe(true)
  })

  test('contains nothing of its earlier run', () => {
    const ring = ringWith(old)
    tryBegin(ring, old)
    endWithResult(ring, old, 7, '"old"')
    putWaiting(ring, later)
    tryBegin(ring, later)
    endByMessage(ring, later, 8)
    expect([resultOf(ring, later), tookMsOf(ring, later)]).toEqual([undefined, 8])
  })
})

test('both sides read the same memory', () => {
  const ring = ringWith(3)
  const thread = ringOf(ring.memory)
  expect(tryBegin(thread, 3)).toBe(true)
  expect(endWithResult(thread, 3, 2.5, '{"a":1}')).toBe(true)
  expect([stateOf(ring, 3), resultOf(ring, 3), tookMsOf(ring, 3)]).toEqual(['ended', '{"a":1}', 2.5])
})

test('neighbouring entries do not touch each other, the first and the last one included', () => {
  const seqs = Array.from({ length: ringEntries }, (_, seq) => seq)
  const ring = ringWith(...seqs)
  for (const seq of seqs) {
    tryBegin(ring, seq)
    expect(endWithResult(ring, seq, seq, `"${String(seq).padEnd(242, 'x')}"`)).toBe(true)
  }
  expect(seqs.filter((seq) => stateOf(ring, seq) !== 'ended' || tookMsOf(ring, seq) !== seq)).toEqual([])
  expect(seqs.filter((seq) => resultOf(ring, seq)?.startsWith(`"${seq}`) !== true)).toEqual([])
  expect(mustSignal(ring, () => false)).toBe(false)
})

test.each([
  ['one byte too long', 'x'.repeat(243)],
  ['too long only as UTF-8', 'ä'.repeat(122)],
  ['cut within a character', `${'x'.repeat(240)}😀`],
])('a result that does not fit is not written in part, and its run has not ended: %s', (_, text) => {
  const ring = ringWith(1)
  tryBegin(ring, 1)
  expect(endWithResult(ring, 1, 1, JSON.stringify(text))).toBe(false)
  expect(stateOf(ring, 1)).toBe('begun')
})

test.each(['x'.repeat(242), 'ä'.repeat(121), ''])('a result that fits is read as it was written', (text) => {
  const ring = ringWith(1)
  tryBegin(ring, 1)
  expect(endWithResult(ring, 1, 1, JSON.stringify(text))).toBe(true)
  expect(JSON.parse(resultOf(ring, 1) ?? '')).toBe(text)
})

describe('a thread signals', () => {
  test('every end if that is requested, once until the signal is taken', () => {
    const ring = createRing()
    setSignalEnds(ring, true)
    expect([mustSignal(ring, () => false), mustSignal(ring, () => false)]).toEqual([true, false])
    takeSignal(ring)
    expect(mustSignal(ring, () => false)).toBe(true)
  })

  test('otherwise only when it has no run left', () => {
    const ring = createRing()
    setSignalEnds(ring, false)
    expect(mustSignal(ring, () => false)).toBe(false)
    expect(mustSignal(ring, () => true)).toBe(true)
  })
})

test.each(pairs)('exactly one side succeeds, wherever the other interrupts it: %s during %s', (rival, own) => {
  for (let accesses = 0; accesses < 4; accesses++) {
    const ring = ringWith(1)
    const before = atAccess(accesses, () => ways[rival](ring, 1))
    const succeeded = ways[own](ring, 1)
    const rivalSucceeded = before.result() ?? ways[rival](ring, 1)
    expect([succeeded, rivalSucceeded].filter(Boolean)).toHaveLength(1)
  }
})

const accessMethods = ['load', 'store', 'exchange', 'compareExchange'] as const

/** Calls `act` once, before the access to shared memory with this number. */
function atAccess<T>(number: number, act: () => T): { result(): T | undefined } {
  const real = accessMethods.map((method) => [method, Reflect.get(Atomics, method) as Function] as const)
  const restore = () => real.forEach(([method, own]) => Reflect.set(Atomics, method, own))
  onTestFinished(restore)
  let accesses = 0
  let result: T | undefined
  for (const [method, own] of real) {
    Reflect.set(Atomics, method, (...args: unknown[]): unknown => {
      if (accesses++ === number) {
        restore()
        result = act()
      }
      return own.apply(Atomics, args)
    })
  }
  return {
    result() {
      restore()
      return result
    },
  }
}
