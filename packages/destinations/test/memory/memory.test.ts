import { expect, onTestFinished, test } from 'vitest'
import { openMemory } from '../../src/memory/index.ts'
import { memoryDestination, memoryFile } from './memory-destination.ts'
import { heartbeat, sample } from './reports.ts'

const at = 1_704_067_200_000

test('a value can be put, replaced and read; putting it again changes nothing', async () => {
  const memory = await openMemory({ file: await memoryFile(), command: null })
  onTestFinished(() => memory.close())
  expect(await memory.get('k')).toBeUndefined()
  expect(await memory.put('k', '{"test":true}')).toBe('created')
  expect(await memory.put('k', '{"test":false}')).toBe('replaced')
  expect(await memory.put('k', '{"test":false}')).toBe('unchanged')
  expect(await memory.get('k')).toEqual({ name: 'k', entityType: 'value', observations: ['{"test":false}'] })
})

test('a pattern lists the keys that it matches, in order', async () => {
  const { sender, file } = await memoryDestination()
  await sender.send([heartbeat('b', at), heartbeat('a', at), sample('a', at)])
  const memory = await openMemory({ file, command: null })
  onTestFinished(() => memory.close())
  const keys = async (pattern: string) => (await memory.list(pattern)).map(({ name }) => name)
  expect(await keys('task-sentinel/workers/*/heartbeat')).toEqual([
    'task-sentinel/workers/a/heartbeat',
    'task-sentinel/workers/b/heartbeat',
  ])
  expect(await keys('*')).toHaveLength(3)
  expect(await keys('heartbeat')).toEqual([])
})

test('the test of a destination writes, reads and removes a value', async () => {
  const { sender, content } = await memoryDestination()
  expect(await sender.test()).toEqual({ kind: 'delivered' })
  expect(await content()).toEqual({})
})
