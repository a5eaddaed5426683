import '@q/testing/vitest'
import { queue } from '@q/client'
import { expect, test } from 'vitest'
import { testQueue } from '@q/testing'
import * as tasks from './tasks/everyday.ts'

test('a run counts as enqueued from any source, even after it has run', async () => {
  await using q = await testQueue({ tasks })
  await expect(q).not.toHaveEnqueued('hello')
  const another = queue<typeof tasks>(q.url)
  await another.enqueue('hello', { name: 'Ada' })
  await another.close()
  await expect(q).toHaveEnqueued('hello')
  await q.enqueue('parent', { children: 1 })
  await q.drain()
  await expect(q).toHaveEnqueued('hello')
  await expect(q).toHaveEnqueued('resize', { url: 'child 0' })
})

test('a part of the payload is enough, and matchers stand for values', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('resize', { url: 'https://a.example', width: 5 })
  await expect(q).toHaveEnqueued('resize', { url: expect.stringContaining('a.example') })
  await expect(q).toHaveEnqueued('resize', { width: expect.any(Number) })
  await expect(q).not.toHaveEnqueued('resize', { url: 'https://b.example' })
  await expect(q).not.toHaveEnqueued('hello', { name: expect.anything() })
})

test('the matcher checks count, queue and options', async () => {
  await using q = await testQueue({ tasks })
  await q.enqueue('resize', { url: 'a' })
  await q.enqueue('resize', { url: 'b' }, { priority: -3, delay: '2h' })
  await expect(q).toHaveEnqueued('resize', {}, { times: 2, queue: 'images', group: '' })
  await expect(q).toHaveEnqueued('resize', { url: 'b' }, { times: 1, priority: -3, delay: '2h' })
  await expect(q).not.toHaveEnqueued('resize', { url: 'a' }, { delay: '2h' })
  await expect(q).not.toHaveEnqueued('resize', {}, { times: 1 })
})

test('a failure lists what was enqueued instead', async () => {
  await using q = await testQueue({ tasks })
  const nothing = Promise.resolve(expect(q).toHaveEnqueued('hello'))
  await expect(nothing).rejects.toThrow(/a run to have been enqueued: hello\n.*in all, 0:\n {2}nothing/)
  const { id } = await q.enqueue('resize', { url: 'a' }, { delay: '2h' })
  const other = Promise.resolve(expect(q).toHaveEnqueued('resize', { url: expect.stringContaining('z') }, { times: 2 }))
  await expect(other).rejects.toThrow('with {"url": StringContaining "z"} 2 times')
  await expect(other).rejects.toThrow(`  ${id} resize {"url":"a"}, queue images, priority 5, delay 7200s, PENDING`)
  const wanted = Promise.resolve(expect(q).not.toHaveEnqueued('resize'))
  await expect(wanted).rejects.toThrow(`no run to have been enqueued`)
  await expect(wanted).rejects.toThrow(`› ${id} resize`)
})

test('the tasks of the queue type names and payloads, and only a test queue is accepted', async () => {
  const neverCalled = async (q: Awaited<ReturnType<typeof testQueue<typeof tasks>>>) => {
    await expect(q).toHaveEnqueued('hello', { name: 'Ada' })
    // @ts-expect-error no task has this name
    await expect(q).toHaveEnqueued('helo')
    // @ts-expect-error the payload has a wrong type
    await expect(q).toHaveEnqueued('hello', { name: 5 })
    // @ts-expect-error the payload has no such member
    await expect(q).toHaveEnqueued('hello', { title: 'x' })
    // @ts-expect-error not a duration
    await expect(q).toHaveEnqueued('hello', { name: 'Ada' }, { delay: 'soon' })
    // @ts-expect-error not a queue
    await expect({ enqueue: 1 }).toHaveEnqueued('hello')
  }
  expect(neverCalled).toBeTypeOf('function')
  const notOurs = Promise.resolve(expect({}).toHaveEnqueued('hello' as never))
  await expect(notOurs).rejects.toMatchObject({ code: 'NOT_A_TEST_QUEUE' })
})
