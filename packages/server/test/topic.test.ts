/** A topic asks once for all its viewers, rests without them, and a slow viewer gets the latest frame alone. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { ExplainedError } from '@q/schema'
import type { Source } from '../src/live/source.ts'
import { createTopic } from '../src/live/topic.ts'
import { createViewer, type Viewer } from '../src/live/viewer.ts'

vi.useFakeTimers()

function counting(everyMs = 1_000) {
  let looks = 0
  const source: Source = {
    name: 'attention',
    everyMs,
    look: () => Promise.resolve(Boolean((looks += 1))),
    framesSince: () => [{ event: 'bye', data: { why: `look ${looks}` } }],
  }
  const topic = createTopic<Viewer>(source, (viewers) => [...viewers].forEach((viewer) => viewer.pump()))
  return { topic, looks: () => looks }
}

/** A viewer whose connection takes a frame only when the test says so. */
function slowViewer() {
  const written: string[] = []
  let taken = Promise.withResolvers<void>()
  let isEnded = false
  const viewer = createViewer(
    {
      write(text) {
        written.push(/look \d+/.exec(text)?.[0] ?? text)
        return taken.promise
      },
      end: () => void (isEnded = true),
    },
    [],
  )
  const take = () => {
    const last = taken
    taken = Promise.withResolvers<void>()
    last.resolve()
    return vi.advanceTimersByTimeAsync(0)
  }
  return { viewer, written, take, isEnded: () => isEnded }
}

test('50 viewers cost as many looks as one, and the last one that leaves ends them', async () => {
  const { topic, looks } = counting()
  const viewers = Array.from({ length: 50 }, () => slowViewer().viewer)
  onTestFinished(() => viewers.forEach((viewer) => topic.remove(viewer)))
  for (const viewer of viewers) topic.add(viewer)
  await vi.advanceTimersByTimeAsync(500)
  const atFirst = looks()
  expect(atFirst).toBeLessThanOrEqual(2)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(looks() - atFirst).toBe(10)
  expect(viewers.map((viewer) => topic.remove(viewer)).at(-1)).toBe(0)
  const atTheEnd = looks()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looks()).toBe(atTheEnd)
})

test('a viewer that reads slowly skips to the latest frame', async () => {
  const { topic } = counting()
  const { viewer, written, take } = slowViewer()
  onTestFinished(() => void topic.remove(viewer))
  viewer.follow(topic)
  topic.add(viewer)
  await vi.advanceTimersByTimeAsync(0)
  expect(written).toEqual(['look 1'])
  await vi.advanceTimersByTimeAsync(5_500)
  expect(written).toEqual(['look 1'])
  await take()
  expect(written).toEqual(['look 1', 'look 6'])
})

test('a viewer that is ended while it reads slowly gets the reason, and no frame of a topic any longer', async () => {
  const { topic } = counting()
  const { viewer, written, take, isEnded } = slowViewer()
  onTestFinished(() => void topic.remove(viewer))
  viewer.follow(topic)
  topic.add(viewer)
  await vi.advanceTimersByTimeAsync(1_500)
  expect(written).toEqual(['look 1'])
  viewer.end({ event: 'bye', data: { why: 'look 99' } })
  await vi.advanceTimersByTimeAsync(0)
  expect(isEnded()).toBe(false)
  await take()
  await take()
  expect(written).toEqual(['look 1', 'look 99'])
  expect(isEnded()).toBe(true)
})

/** Each look hangs for 5 s and fails. */
function failing(code: string) {
  let looks = 0
  const source: Source = {
    name: 'attention',
    everyMs: 1_000,
    async look() {
      looks += 1
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      throw new ExplainedError({ code, what: 'What', why: 'Why.', fix: 'Fix.' })
    },
    framesSince: () => [],
  }
  const topic = createTopic<Viewer>(source, () => {})
  const { viewer } = slowViewer()
  onTestFinished(() => void topic.remove(viewer))
  const begun = Date.now()
  topic.add(viewer)
  return { topic, looks: () => looks, begun }
}

test('a look that did not reach the database is repeated soon, one that took the time of the database is not', async () => {
  const [away, slow] = [failing('DATABASE_UNREACHABLE'), failing('DATABASE_TIMEOUT')]
  await vi.advanceTimersByTimeAsync(6_500)
  expect([away.looks(), slow.looks()]).toEqual([2, 1])
  await vi.advanceTimersByTimeAsync(14_000)
  expect(slow.looks()).toBe(2)
})

test('data is old since the first look that failed began, not since it gave up', async () => {
  const { topic, begun } = failing('DATABASE_UNREACHABLE')
  await vi.advanceTimersByTimeAsync(5_100)
  expect(topic.problem?.since.getTime()).toBe(begun)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(topic.problem?.since.getTime()).toBe(begun)
})
