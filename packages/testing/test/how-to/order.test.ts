// order.test.ts: a workflow from start to end
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

test('an order is paid and packed, and its customer is asked for a review a week later', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(sell, { order: 'o1', items: ['cup', 'pot'] })
  const { ran } = await q.drain() // all steps up to the delay of a week
  expect(ran).toMatchObject([{ task: 'pay' }, { task: 'pack' }, { task: 'pack' }])

  await q.travel('7d')
  await q.drain()
  expect(await run.result()).toEqual({ asked: 'o1-paid' })
})

test('nothing is packed if the replica dies during the payment', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(sell, { order: 'o1', items: ['cup'] })
  await q.abandon('pay')
  await q.travel('2m')
  expect((await q.drain()).ran).toEqual([])
  await expect(run.result()).rejects.toMatchObject({ code: 'WORKER_CRASHED', failed: [{ name: 'pay' }] })
})
