import { expect, test } from 'vitest'
import { boundedState } from '../../src/github/bounded-state.ts'
import { memoryState } from '../memory-state.ts'

test('the keys that were put longest ago are removed beyond 1000', async () => {
  const all = memoryState()
  const state = boundedState(all)
  await all.put('limited-until', '5')
  for (let key = 0; key < 1000; key++) await state.put(`comment/${key}`, 'first')
  await state.put('comment/0', 'edited')
  await state.put('comment/1000', 'first')
  await state.put('comment/1000', 'edited')
  const left = ['comment/0', 'comment/1', 'comment/2', 'comment/1000', 'limited-until'].map((key) => state.get(key))
  expect(await Promise.all(left)).toEqual(['edited', undefined, 'first', 'edited', '5'])
})
