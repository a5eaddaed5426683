import { afterAll, expect, test } from 'vitest'
import { memoryDestination } from './memory-destination.ts'
import { ended, recovery, status } from './reports.ts'

const at = 1_704_067_200_000
const lock = (run: string) => `task-sentinel/tasks/${run}/lock`

// Each test has runs of its own.
const { sender, content, names } = await memoryDestination({ locks: true }, { scope: afterAll })

test('a claimed run has a lock until it ends, is released or is recovered', async () => {
  const locks = () => names('task-sentinel/tasks/a')
  await sender.send(['a1', 'a2', 'a3', 'a4'].map((run) => status(run, 'CLAIMED', at)))
  await sender.send([status('a1', 'RUNNING', at + 1)])
  expect(await locks()).toEqual(['a1', 'a2', 'a3', 'a4'].map(lock))
  await sender.send([ended('a1', at + 2), recovery('a2', at + 2), status('a3', 'AVAILABLE', at + 2)])
  expect(await locks()).toEqual([lock('a4')])
  await sender.send([status('a4', 'SUCCEEDED', at + 2)])
  expect(await locks()).toEqual([])
})

test('a run that is claimed and ends in one batch leaves no lock', async () => {
  await sender.send([status('b1', 'CLAIMED', at), ended('b1', at + 1)])
  expect(await names(lock('b1'))).toEqual([])
})

test('a late report about an earlier attempt leaves the lock of the next one', async () => {
  await sender.send([status('c1', 'RUNNING', at + 10)])
  await sender.send([recovery('c1', at)])
  const [value] = (await content())[lock('c1')] ?? []
  expect(JSON.parse(value ?? '')).toEqual({ timestamp: at + 10, task_id: 'c1', task: 'resize', worker_id: 'eu-1' })
})

test('a destination without locks accepts changes of status and writes nothing', async () => {
  const plain = await memoryDestination()
  expect(await plain.sender.send([status('1', 'CLAIMED', at), ended('1', at)])).toEqual([
    { kind: 'delivered' },
    { kind: 'delivered' },
  ])
  expect(await plain.content()).toEqual({})
})
