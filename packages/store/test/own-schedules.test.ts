/** Schedules that the code of tasks declares. */
import { expect, test } from 'vitest'
import type { OwnSchedule, ScheduleInput } from '@q/store'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { fixture } from './fixture.ts'

const { store, db, another } = await fixture()

function input(name: string, more: Partial<ScheduleInput> = {}): ScheduleInput {
  return { name, task: 'report', cron: '0 9 * * *', timezone: 'UTC', missed: 'one', payload: {}, ...more }
}

const own: NonNullable<OwnSchedule['schedule']> = { cron: '0 9 * * *', timezone: 'UTC', missed: 'one', payload: {} }

async function row(name: string) {
  return db.selectFrom('q.schedule').selectAll().where('name', '=', name).executeTakeFirstOrThrow()
}

test('the schedule of a task is created and removed by its newest code; others stay unchanged', async () => {
  await store.putSchedule(input('manual', { task: 'own' }))
  await store.publishSchedules('replica-a', [
    { task: 'own', schedule: own },
    { task: 'plain', schedule: null },
  ])
  expect(await store.getSchedule('task:own')).toMatchObject({ task: 'own', isOwn: true })
  const before = await row('task:own')
  await store.publishSchedules('replica-b', [{ task: 'own', schedule: own }])
  expect(await row('task:own')).toEqual(before)
  // A replica that does not know the task has no opinion about it.
  await store.publishSchedules('replica-c', [{ task: 'plain', schedule: null }])
  expect(await store.getSchedule('task:own')).toBeDefined()
  await store.publishSchedules('replica-d', [{ task: 'own', schedule: null }])
  expect(await store.getSchedule('task:own')).toBeUndefined()
  expect(await store.getSchedule('manual')).toBeDefined()
})

test('replicas that start together declare the same schedules without a deadlock', async () => {
  const tasks = Array.from({ length: 20 }, (_, n) => ({ task: `together ${n}`, schedule: { ...own, payload: { n } } }))
  const stores = Array.from({ length: 4 }, () => another())
  await Promise.all(stores.map((one, n) => one.publishSchedules(`r${n}`, n % 2 === 0 ? tasks : tasks.toReversed())))
  const all = await store.listSchedules()
  expect(all.filter(({ name }) => name.startsWith('task:together'))).toHaveLength(20)
})

test('replicas of two releases, each removing the schedules of the other, do not deadlock', async () => {
  const [before, after] = ['task:release a', 'task:release b']
  const declared = { task: 'release b', schedule: { ...own, payload: { release: 2 } } }
  await store.publishSchedules('r1', [
    { task: 'release a', schedule: own },
    { task: 'release b', schedule: own },
  ])
  const published = Promise.withResolvers<void>()
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.schedule').select('name').where('name', '=', before).forUpdate().execute()
    published.resolve(another().publishSchedules('r2', [declared, { task: 'release a', schedule: null }]))
    await untilSomebodyWaits(db)
    await trx.updateTable('q.schedule').set({ published_by: 'r1' }).where('name', '=', after).execute()
  })
  await published.promise
  expect(await store.getSchedule(before)).toBeUndefined()
  expect(await store.getSchedule(after)).toMatchObject({ payload: { release: 2 } })
})
