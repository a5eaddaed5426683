import { expect, test } from 'vitest'
import { destinationKinds, type Report } from '../../src/index.ts'
import { memoryState } from '../memory-state.ts'
import { memoryDestination, relay } from './memory-destination.ts'
import { heartbeat, heartbeatData, recovery, sample, alert } from './reports.ts'

const at = 1_704_067_200_000
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('reports that are sent at the same time are written one call after the other, and none is lost', async () => {
  const { command, log } = await relay()
  const { sender, content } = await memoryDestination({ command })
  const sends = numbers(15).map((n) => [recovery(String(n), at), heartbeat(`w${n}`, at), alert('a', at + n)])
  const results = await Promise.all(sends.map((reports) => sender.send(reports)))
  expect(new Set(results.flat().map(({ kind }) => kind))).toEqual(new Set(['delivered']))
  const found = await content()
  expect(found[`task-sentinel/metrics/lock-recoveries/${at}`]).toHaveLength(15)
  expect(found['task-sentinel/workers/a/heartbeat-failures']).toHaveLength(15)
  expect(Object.keys(found)).toHaveLength(17)
  const lines = await log()
  expect(lines.every((line, index) => line.startsWith(index % 2 === 0 ? 'call' : 'answer'))).toBe(true)
})

test('a destination allows one batch in flight, because the server loses updates that overlap', () => {
  expect(destinationKinds['memory']).toMatchObject({ inFlightMax: 1, batchMax: 500 })
})

test('a batch with more entities or bytes than the server takes at once is written in rounds', async () => {
  const { command, log } = await relay()
  const { sender, names } = await memoryDestination({ command })
  const samples = numbers(1_100).map((n) => sample(`w${n}`, at))
  const large = numbers(30).map((n) => withTasks(`large${n}`, 10_000))
  const results = await sender.send([...samples, ...large])
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['delivered']))
  expect(await names('task-sentinel/metrics/')).toHaveLength(1_100)
  expect(await names('task-sentinel/workers/large')).toHaveLength(30)
  const creations = (await log()).filter((line) => line === 'call create_entities')
  expect(creations.length).toBeGreaterThanOrEqual(5)
})

test('a report that is too large for the server is rejected, and the others are written', async () => {
  const { sender, names } = await memoryDestination()
  const results = await sender.send([heartbeat('a', at), withTasks('large', 100_000), heartbeat('b', at)])
  expect(results).toEqual([
    { kind: 'delivered' },
    { kind: 'rejected', error: 'The report is larger than 1 MB.' },
    { kind: 'delivered' },
  ])
  expect(await names('')).toEqual(['task-sentinel/workers/a/heartbeat', 'task-sentinel/workers/b/heartbeat'])
})

test('after a round that failed, the later rounds of the batch are not tried', async () => {
  const { command, fault, log } = await relay()
  const { sender } = await memoryDestination({ command })
  await fault('kill', 'create_entities')
  const results = await sender.send(numbers(600).map((n) => sample(`w${n}`, at)))
  expect(results.map(({ kind }) => kind)).toEqual(numbers(600).map((n) => (n < 500 ? 'failed' : 'postponed')))
  expect((await log()).filter((line) => line.startsWith('call'))).toEqual(['call open_nodes', 'call create_entities'])
})

test('when the server is too slow for the whole batch, what it has written counts as delivered', async () => {
  const state = memoryState()
  const { sender, clock, names } = await memoryDestination({}, { state })
  const { put } = state
  state.put = (key, value) => {
    clock.nowMs += 100
    return put(key, value)
  }
  const results = await sender.send(numbers(600).map((n) => sample(`w${n}`, at)))
  expect(results.map(({ kind }) => kind)).toEqual(numbers(600).map((n) => (n < 500 ? 'delivered' : 'postponed')))
  expect(await names('')).toHaveLength(500)
})

/** A heartbeat with so many ids of runs. */
function withTasks(worker: string, count: number): Report {
  const current_tasks = numbers(count).map((n) => String(1_000_000 + n))
  return {
    ...heartbeat(worker, at),
    kind: 'heartbeat',
    payload: { heartbeat: { ...heartbeatData(worker, at), current_tasks }, runs: [] },
  }
}
