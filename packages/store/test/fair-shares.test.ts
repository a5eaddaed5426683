/** Who is served next, as arithmetic: no database, no time. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairShares, quotasOf, type FairShares, type Candidate } from '../src/runs/fair-shares.ts'

function head(group: string, options: Partial<Candidate> = {}): Candidate {
  return { lane: 1, task: 't', queue: 'default', priority: 0, group, weight: 1, ...options }
}

interface ShareOptions {
  readonly atOnce?: number
  readonly shares?: FairShares
  readonly weights?: Record<string, number>
}

/** How many of the turns each group got, claimed a few at a time. */
function served(
  heads: readonly Candidate[],
  turns: number,
  { atOnce = 1, shares = createFairShares(), weights = {} }: ShareOptions = {},
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let turn = 0; turn < turns; turn += atOnce) {
    for (const { queue, group, lane, runs } of quotasOf(shares, heads, atOnce, weights)) {
      const name = `${queue}/${group}/${lane}`
      counts[name] = (counts[name] ?? 0) + runs
    }
  }
  return counts
}

test.each([1, 3, 7, 100])('groups share by weight, claimed %i at a time', (atOnce) => {
  const heads = [head('light'), head('heavy', { weight: 3 })]
  const counts = served(heads, 2_100, { atOnce })
  expect(counts['default/heavy/1']).toBeGreaterThanOrEqual(1_572)
  expect(counts['default/heavy/1']).toBeLessThanOrEqual(1_578)
})

test('queues share by their weights, for any number of groups', () => {
  const mail = Array.from({ length: 9 }, (_, number) => head(`g${number}`, { queue: 'mail' }))
  const counts = served([head('', { queue: 'cpu' }), ...mail], 400, { weights: { cpu: 3 } })
  expect(counts['cpu//1']).toBe(300)
})

test.each(['constructor', 'queues'])('a queue may have any name: %s', (queue) => {
  const counts = served([head('', { queue }), head('', { queue: 'cpu' })], 400, { weights: { cpu: 3 } })
  expect(counts).toEqual({ [`${queue}//1`]: 100, 'cpu//1': 300 })
})

test('a group is one share of its queue, however many tasks it has', () => {
  const counts = served([head('a', { lane: 1 }), head('a', { lane: 2 }), head('b', { lane: 3 })], 400)
  expect(counts).toEqual({ 'default/a/1': 100, 'default/a/2': 100, 'default/b/3': 200 })
})

test('only the best priority that is ready is served', () => {
  const counts = served([head('late', { priority: 5 }), head('first', { priority: -1 })], 10)
  expect(counts).toEqual({ 'default/first/1': 10 })
})

test('a group that was alone for long has no debt, and a new group has no credit', () => {
  const shares: FairShares = createFairShares()
  served([head('old'), head('other')], 1_000, { shares })
  const counts = served([head('old'), head('new')], 100, { shares })
  expect(counts).toEqual({ 'default/old/1': 50, 'default/new/1': 50 })
})

test('a group that is empty for a moment is not served first when it returns', () => {
  const shares: FairShares = createFairShares()
  const both = [head('a'), head('b')]
  expect(served(both, 1, { shares })).toEqual({ 'default/a/1': 1 })
  expect(served([head('b'), head('c')], 1, { shares })).toEqual({ 'default/b/1': 1 })
  expect(served([head('a'), head('c')], 1, { shares })).toEqual({ 'default/c/1': 1 })
})

test('a group that returns after a day waits for no other group to catch up', () => {
  const shares: FairShares = createFairShares()
  served([head('a'), head('b')], 10_000, { shares })
  served([head('c'), head('d')], 10, { shares })
  expect(served([head('c'), head('d'), head('a')], 3, { shares })).toMatchObject({ 'default/a/1': 1 })
})

test('groups without runs are removed from memory', () => {
  const shares: FairShares = createFairShares()
  for (let number = 0; number < 1_000; number++) served([head(`${number}`), head(`${number + 1}`)], 2, { shares })
  expect(shares.size).toBeLessThan(10)
})

test('a hundred thousand groups are handled', () => {
  const heads = Array.from({ length: 200_000 }, (_, number) => head(`${number}`))
  expect(quotasOf(createFairShares(), heads, 2)).toHaveLength(2)
})

test('a group that stays ready waits no longer than one round of the others', () => {
  const groups = fc.uniqueArray(fc.string({ maxLength: 3 }), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(groups, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 40 }), (names, atOnce, before) => {
      const shares = createFairShares()
      const others = names.slice(1).map((name) => head(name))
      served(others, before, { atOnce, shares })
      const all = [...others, head(names[0]!)]
      const counts = served(all, names.length + atOnce, { atOnce: 1, shares })
      expect(counts[`default/${names[0]}/1`]).toBeGreaterThan(0)
    }),
  )
})

test('the quotas add up to the request, never to more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 50 }), (limit, groups) => {
      const heads = Array.from({ length: groups }, (_, number) => head(`${number}`, { weight: 1 + (number % 5) }))
      const runs = quotasOf(createFairShares(), heads, limit).reduce((sum, quota) => sum + quota.runs, 0)
      expect(runs).toBe(limit)
    }),
  )
})

test('without candidates there are no quotas', () => {
  expect(quotasOf(createFairShares(), [], 5)).toEqual([])
})
