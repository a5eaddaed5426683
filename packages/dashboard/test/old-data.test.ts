/** What the page believes when data cannot be read: one topic is old, or there is no database. */
import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isDatabaseAway } from '../src/api/problem.ts'
import { allNodes, applyFrames } from '../src/live/apply-frames.ts'
import { connection } from '../src/live/connection.ts'
import { deliver } from '../src/live/live.ts'

const cache = new QueryClient()
let stop: () => void
beforeEach(() => {
  connection.answered() // every test begins with data that was just read
  stop = applyFrames(cache)
})
afterEach(() => {
  connection.answered()
  connection.becameFresh()
  stop()
})

const since = '2026-01-01T00:00:00.000Z'
const old = (topic: string, code: string, id: string | null = null) =>
  deliver({ event: 'old', data: { topic, id, code, why: `${topic} failed`, since } })
const names = () => [...connection.get().old.values()].map(({ name }) => name)

test('a topic that timed out is old alone, until its next frame', () => {
  old('nodes', 'DATABASE_TIMEOUT')
  old('log', 'DATABASE_LOCKED', '5')
  expect(connection.get().away).toBeNull()
  expect(names()).toEqual(['nodes', 'log 5'])
  deliver({ event: 'overview', data: {} })
  deliver({ event: 'log', data: { runId: '6' } })
  expect(names()).toEqual(['nodes', 'log 5'])
  deliver({ event: 'log', data: { runId: '5' } })
  deliver({ event: 'nodes', data: { changed: [], gone: [] } })
  expect(names()).toEqual([])
})

test.each([
  ['without a living node that the page knows', ['a'], true],
  ['with every living node that the page knows', ['a', 'b', 'new'], false],
])('nodes are read again after a whole frame %s', (_, ids, isReadAgain) => {
  const nodes = (states: Record<string, string>) => Object.entries(states).map(([id, state]) => ({ id, state }))
  cache.setQueryData([allNodes], { items: nodes({ a: 'alive', b: 'alive', ended: 'stopped' }) })
  const changed = ids.map((id) => ({ id, state: 'alive' }))
  deliver({ event: 'nodes', data: { snapshot: true, changed, gone: [] } })
  expect(cache.getQueryState([allNodes])?.isInvalidated).toBe(isReadAgain)
})

test('the time of the first failure stays', () => {
  old('nodes', 'DATABASE_TIMEOUT')
  expect(connection.get().old.get('nodes')?.since).toBe(Date.parse(since))
  connection.becameOld('nodes', { name: 'nodes', why: 'another reason', since: null })
  expect(connection.get().old.get('nodes')).toMatchObject({ since: Date.parse(since), why: 'another reason' })
})

test('a lost connection means that there is no database, and the next good frame that there is one', () => {
  old('nodes', 'DATABASE_UNREACHABLE')
  expect(connection.get().away).toMatchObject({ what: 'database', since: Date.parse(since) })
  expect(names()).toEqual([])
  deliver({ event: 'overview', data: {} })
  expect(connection.get().away).toBeNull()
})

test('a new stream begins without old topics; requested topics stay old', () => {
  old('nodes', 'DATABASE_TIMEOUT')
  connection.becameOld('/runs', { name: '/runs', why: 'slow', since: null })
  deliver({ event: 'hello', data: { now: since } })
  expect(names()).toEqual(['/runs'])
  connection.becameFresh('/runs')
  expect(names()).toEqual([])
})

test.each(['DATABASE_TIMEOUT', 'DATABASE_LOCKED', 'DATABASE_CONFLICT', 'DATABASE_BUSY', 'INTERNAL_ERROR'])(
  '%s does not mean that the database is away',
  (code) => {
    expect(isDatabaseAway(code)).toBe(false)
  },
)

test('what the server read before the loss, and sends to a new stream, neither ends the loss nor looks newer than it is', () => {
  const before = connection.get().lastAt
  old('nodes', 'DATABASE_UNREACHABLE')
  deliver({ event: 'queues', data: { at: '2025-12-31T23:59:50.000Z', items: [] } })
  expect(connection.get()).toMatchObject({ away: { what: 'database' }, lastAt: before })
  deliver({ event: 'queues', data: { at: '2026-01-01T00:00:20.000Z', items: [] } })
  expect(connection.get().away).toBeNull()
})

test('a loss that gets another reason keeps the time of its first report', () => {
  old('nodes', 'DATABASE_UNREACHABLE')
  connection.lost('database', 'another reason', '2026-01-01T00:00:07.000Z')
  expect(connection.get().away).toMatchObject({ since: Date.parse(since), why: 'another reason' })
  connection.lost('database', 'an earlier report', '2025-12-31T23:59:59.000Z')
  expect(connection.get().away).toMatchObject({ since: Date.parse('2025-12-31T23:59:59.000Z') })
})
