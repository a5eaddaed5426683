/** Producers cache published tasks: concurrent callers share one read, and a caller that must not wait reads on its own. */
import { expect, test } from 'vitest'
import { createTaskCache, type PublishedTask, type TaskReads } from '@q/store'

const known: PublishedTask = {
  name: 'known',
  queue: 'cpu',
  onCrash: null,
  publishedBy: 'a',
  options: {},
  payloadSchema: null,
}

/** Reads that are counted, and answered when the test says so. */
function reads() {
  const asked = { tasks: 0, lanes: 0 }
  const answers = Promise.withResolvers<void>()
  const from: TaskReads = {
    async publishedTasks() {
      asked.tasks++
      await answers.promise
      return [known]
    },
    async internLane() {
      const lane = ++asked.lanes
      await answers.promise
      return lane
    },
  }
  return { from, asked, answer: answers.resolve }
}

test('concurrent callers share one read', async () => {
  const usual = reads()
  const memory = createTaskCache(usual.from, () => 0)
  const lane = { queue: 'cpu', task: 'known' }
  const found = Promise.all([memory.find('known'), memory.find('known'), memory.laneOf(lane), memory.laneOf(lane)])
  usual.answer()
  expect(await found).toEqual([known, known, 1, 1])
  expect(usual.asked).toEqual({ tasks: 1, lanes: 1 })
})

test('a caller with its own read does not wait for others, and they use its result', async () => {
  const usual = reads() // never answered
  const own = reads()
  own.answer()
  const memory = createTaskCache(usual.from, () => 0)
  const waiting = memory.find('known')
  expect(await memory.find('known', own.from)).toEqual(known)
  expect(await memory.laneOf({ queue: 'cpu', task: 'known' }, own.from)).toBe(1)
  expect(await memory.find('known')).toEqual(known)
  expect([usual.asked, own.asked]).toEqual([
    { tasks: 1, lanes: 0 },
    { tasks: 1, lanes: 1 },
  ])
  usual.answer()
  await waiting
})
