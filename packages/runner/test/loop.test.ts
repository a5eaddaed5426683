import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { after, atOnce, pause, startLoop, whenWoken } from '../src/main/loop.ts'
import { createBatcher } from '@q/store'
import { createSlots } from '../src/main/dispatch/slots.ts'

test('a loop continues at once, after a delay, or when woken, and ends after the current round', async () => {
  const answers = [atOnce, after(1), whenWoken, whenWoken]
  const sleeping = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  let rounds = 0
  const loop = startLoop({
    tick: async () => {
      const answer = answers[rounds++] ?? whenWoken
      if (rounds === 3) sleeping.resolve()
      if (rounds === 4) done.resolve()
      return answer
    },
    onError: () => {},
  })
  await sleeping.promise
  loop.wake()
  await done.promise
  await loop.stop()
  expect(rounds).toBe(4)
})

test('a wake during a round is not lost', async () => {
  const second = Promise.withResolvers<void>()
  const inRound = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  let rounds = 0
  const loop = startLoop({
    tick: async () => {
      if (++rounds === 2) second.resolve()
      inRound.resolve()
      await goOn.promise
      return whenWoken
    },
    onError: () => {},
  })
  await inRound.promise
  loop.wake()
  goOn.resolve()
  await second.promise
  await loop.stop()
  expect(rounds).toBe(2)
})

test('a failed round is retried and does not end the loop', async () => {
  const recovered = Promise.withResolvers<void>()
  const errors: unknown[] = []
  let rounds = 0
  const loop = startLoop({
    tick: async () => {
      if (++rounds < 3) throw new Error(`round ${rounds}`)
      recovered.resolve()
      return whenWoken
    },
    onError: (error) => void errors.push(error),
  })
  await recovered.promise
  await loop.stop()
  expect(errors.map(String)).toEqual(['Error: round 1', 'Error: round 2'])
})

test('a pause ends early when its signal aborts', async () => {
  const controller = new AbortController()
  const paused = pause(3_600_000, controller.signal)
  controller.abort()
  await expect(paused).resolves.toBeUndefined()
  await expect(pause(3_600_000, AbortSignal.abort())).resolves.toBeUndefined()
})

test('a pause longer than the longest timer does not end at once', async () => {
  const over = new AbortController()
  const months = pause(2 ** 33, over.signal).then(() => 'months')
  expect(await Promise.race([months, pause(20).then(() => 'a moment')])).toBe('a moment')
  over.abort()
})

test('calls that arrive while a statement is in flight go with the next one, and each caller gets its own answer', async () => {
  const sent: number[][] = []
  const first = Promise.withResolvers<void>()
  const batcher = createBatcher<number, string>(async (items) => {
    sent.push([...items])
    if (sent.length === 1) await first.promise
    return items.map((item) => `answer ${item}`)
  }, 3)
  const answers = [1, 2, 3, 4, 5].map((item) => batcher.add(item))
  first.resolve()
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5].map((item) => `answer ${item}`))
  expect(sent).toEqual([[1], [2, 3, 4], [5]])
})

test('a failed batch fails only for its callers', async () => {
  const batcher = createBatcher<number, number>(async (items) => {
    if (items.includes(1)) throw new Error('refused')
    return items
  }, 10)
  await expect(batcher.add(1)).rejects.toThrow('refused')
  expect(await batcher.add(2)).toBe(2)
})

test('a slot is never taken twice, and allFree() resolves when the last slot is free', async () => {
  const slots = createSlots(2)
  const [a, b] = [slots.take(), slots.take()]
  expect(new Set([a, b]).size).toBe(2)
  expect(() => slots.take()).toThrow(/free slots/)
  const free = slots.allFree()
  slots.release(a)
  expect(slots.busy()).toBe(1)
  slots.release(b)
  await free
})

test('a pause leaves nothing behind on the signal it listened to', async () => {
  const controller = new AbortController()
  for (let round = 0; round < 5; round++) await pause(1, controller.signal)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})
