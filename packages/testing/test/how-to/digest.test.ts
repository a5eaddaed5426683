// digest.test.ts: tasks with a schedule
import { task } from '@q/task'
import { testQueue } from '@q/testing'
import { expect, test } from 'vitest'

const tasks = {
  digest: task({ cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }, () => 'sent'),
  clean: task({ every: '1h', missed: 'all' }, () => 'cleaned'),
}

test('the digest is sent on workdays at nine, Berlin time', async () => {
  const { digest } = tasks
  await using q = await testQueue({ tasks: { digest }, startsAt: new Date('2026-07-03T06:30:00Z') }) // a Friday
  await q.travel('30m') // 07:00 UTC is nine o'clock in Berlin
  expect((await q.drain()).ran).toMatchObject([{ task: 'digest', result: 'sent' }])

  await q.travel('2d') // Sunday
  expect((await q.drain()).ran).toEqual([])
  expect(await q.schedules()).toMatchObject([{ name: 'task:digest', nextTick: new Date('2026-07-06T07:00:00Z') }])
})

test('missed hours are enqueued later', async () => {
  const { clean } = tasks
  await using q = await testQueue({ tasks: { clean } })
  await q.travel('5h')
  expect((await q.drain()).ran).toHaveLength(5)
})
