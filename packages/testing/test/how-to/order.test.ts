// order.test.ts: a workflow, from its start to its end
import { task, workflow, type Ref } from '@q/client'
import { testQueue } from '@q/testing'
import { expect, test } from 'vitest'

const tasks = {
  pay: task(({ order }: { order: string }) => ({ receipt: `${order}-paid` })),
  pack: task(({ item }: { item: string }) => ({ parcel: item })),
  review: task(({ receipt }: { receipt: string }) => ({ asked: receipt })),
}
interface Order {
  order: string
  items: string[]
}
const sell = workflow<typeof tasks>()('sell', ({ step, map }, input: Ref<Order>) => {
  const paid = step('pay', { order: input.order })
  const packed = map('pack', input.items, (item) => ({ item }), { after: [paid] })
  return step('review', { receipt: paid.receipt }, { after: [packed], delay: '7d' })
})

test('an order is paid, packed, and a week later its customer is asked for a review', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(sell, { order: 'o1', items: ['cup', 'pot'] })
  const { ran } = await q.drain() // all steps, as far as they need no time
  expect(ran).toMatchObject([{ task: 'pay' }, { task: 'pack' }, { task: 'pack' }])

  await q.travel('7d')
  await q.drain()
  expect(await run.result()).toEqual({ asked: 'o1-paid' })
})

test('nothing is packed if the till dies', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(sell, { order: 'o1', items: ['cup'] })
  await q.abandon('pay')
  await q.travel('2m')
  expect((await q.drain()).ran).toEqual([])
  await expect(run.result()).rejects.toMatchObject({ code: 'WORKER_CRASHED', failed: [{ name: 'pay' }] })
})
