import { afterAll, expect, test } from 'vitest'
import { memoryState } from '../memory-state.ts'
import { memoryDestination } from './memory-destination.ts'
import { alert, heartbeat, recovery, sample } from './reports.ts'

const at = 1_704_067_200_000
const shared = await memoryDestination({}, { scope: afterAll })
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('the last 288 samples of each worker stay, and other workers keep theirs', async () => {
  const { sender, names } = shared
  await sender.send([...numbers(285).map((n) => sample('a', at + n)), sample('b', at)])
  for (const n of numbers(10)) await sender.send([sample('a', at + 285 + n)])
  const kept = await names('task-sentinel/metrics/heartbeats/a/')
  expect(kept).toEqual(numbers(288).map((n) => `task-sentinel/metrics/heartbeats/a/${at + 7 + n}`))
  expect(await names('task-sentinel/metrics/heartbeats/b/')).toHaveLength(1)
})

test('the last 1000 recoveries stay', async () => {
  const { sender, names } = shared
  const reports = numbers(1003).map((n) => recovery(String(n), at + n))
  expect(new Set((await sender.send(reports)).map(({ kind }) => kind))).toEqual(new Set(['delivered']))
  const kept = await names('task-sentinel/metrics/lock-recoveries/')
  expect(kept).toEqual(numbers(1000).map((n) => `task-sentinel/metrics/lock-recoveries/${at + 3 + n}`))
})

test('the last 50 failed heartbeats of a worker stay', async () => {
  const { sender, content } = shared
  for (const third of [0, 20, 40]) await sender.send(numbers(20).map((n) => alert('a', at + third + n)))
  const found = (await content())['task-sentinel/workers/a/heartbeat-failures'] ?? []
  expect(found.map((text) => (JSON.parse(text) as { timestamp: number }).timestamp)).toEqual(
    numbers(50).map((n) => at + 10 + n),
  )
})

test('another replica that continues a destination removes the samples of the first', async () => {
  const state = memoryState()
  const first = await memoryDestination({}, { state })
  await first.sender.send(numbers(288).map((n) => sample('a', at + n)))
  await first.sender.close()
  const second = await memoryDestination({ file: first.file }, { state })
  await second.sender.send([sample('a', at + 288)])
  const kept = await second.names('task-sentinel/metrics/heartbeats/a/')
  expect([kept.length, kept[0]]).toEqual([288, `task-sentinel/metrics/heartbeats/a/${at + 1}`])
})

test('a sender without a stored state finds the samples of the process before it', async () => {
  const before = await memoryDestination({}, { state: { ...memoryState(), isBrief: true } })
  await before.sender.send([...numbers(288).map((n) => sample('a', at + n)), sample('ab', at)])
  await before.sender.close()
  const after = await memoryDestination({ file: before.file }, { state: { ...memoryState(), isBrief: true } })
  for (const n of [288, 289]) await after.sender.send([sample('a', at + n)])
  const kept = await after.names('task-sentinel/metrics/heartbeats/a/')
  expect(kept).toEqual(numbers(288).map((n) => `task-sentinel/metrics/heartbeats/a/${at + 2 + n}`))
  expect(await after.names('task-sentinel/metrics/heartbeats/ab/')).toHaveLength(1)
})

test('everything about a worker that has not reported for a week is removed', async () => {
  const { sender, clock, content } = await memoryDestination()
  await sender.send([heartbeat('old', at), sample('old', at), alert('old', at), recovery('41', at)])
  await sender.send([heartbeat('new', at)])
  clock.nowMs += 8 * 24 * 3_600_000
  await sender.send([heartbeat('new', at + 1)])
  expect(Object.keys(await content()).toSorted()).toEqual([
    `task-sentinel/metrics/lock-recoveries/${at}`,
    'task-sentinel/workers/new/heartbeat',
  ])
})

test('workers whose names make the same key count as one: the silence of one removes nothing of the other', async () => {
  const { sender, clock, names } = await memoryDestination()
  await sender.send([heartbeat('x y', at)])
  clock.nowMs += 8 * 24 * 3_600_000
  await sender.send([heartbeat('x_y', at + 1)])
  expect(await names('')).toEqual(['task-sentinel/workers/x_y/heartbeat'])
})
