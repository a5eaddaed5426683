import { expect, test } from 'vitest'
import type { PublishedTask, Store } from '@q/store'
import { createRouteFinder } from '../src/main/claim/task-routing.ts'

/** A store that counts its calls. */
function scene() {
  const now = { ms: 0 }
  const asked = { tasks: 0, lanes: 0 }
  let published: string[] = ['known']
  let fails = false
  const store: Pick<Store, 'publishedTasks' | 'internLane'> = {
    async publishedTasks() {
      asked.tasks++
      if (fails) throw new Error('away')
      return published.map((name) => ({ name, queue: 'cpu', options: {} }) as Partial<PublishedTask> as PublishedTask)
    },
    internLane: async () => ++asked.lanes,
  }
  return {
    now,
    asked,
    find: createRouteFinder(store, () => now.ms),
    publish: (...names: string[]) => void (published = names),
    fail: (failing: boolean) => void (fails = failing),
  }
}

test('published options are read once and cached for a time, however many runs are enqueued', async () => {
  const { now, asked, find } = scene()
  for (let run = 0; run < 100; run++) {
    const { queue, settingsFor } = await find('known')
    expect(queue).toBe('cpu')
    expect(settingsFor({})).toMatchObject({ lane: 1, priority: 0, maxAttempts: 1 })
  }
  expect(asked).toEqual({ tasks: 1, lanes: 1 })
  now.ms = 30_001
  await find('known')
  expect(asked).toEqual({ tasks: 2, lanes: 1 })
})

test('an unpublished task is cached only briefly', async () => {
  const { now, asked, find, publish } = scene()
  // The task is unknown here: the database decides.
  expect((await find('new')).settingsFor({})).toEqual({})
  await find('new')
  expect(asked.tasks).toBe(1)
  publish('known', 'new')
  now.ms = 1_001
  expect(await find('new')).toMatchObject({ queue: 'cpu' })
})

test('a failed read is not cached', async () => {
  const { asked, find, fail } = scene()
  fail(true)
  await expect(find('known')).rejects.toThrow('away')
  fail(false)
  expect(await find('known')).toMatchObject({ queue: 'cpu' })
  expect(asked.tasks).toBe(2)
})
