/** The duties of watching presence, and duties in general: one replica has each. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { presenceFixture } from './presence-fixture.ts'

const { store, db, another, present, cut } = await presenceFixture()

test('there is one watcher and one deputy; any other replica asks again when the lease of the deputy ends, and replaces them when both have ended', async () => {
  const ask = async (replicaId: string, duty = 'three posts') =>
    store.watchPresence({ replicaId, duty, watcherMs: 60_000, deputyMs: 30_000 })
  expect(await ask('first')).toMatchObject({ post: 'watcher' })
  expect(await ask('second')).toMatchObject({ post: 'deputy' })
  const third = await ask('third')
  expect(third).toMatchObject({ post: 'none', gone: [] })
  expect(third.untilInMs).toBeGreaterThan(20_000)
  expect([(await ask('first')).post, (await ask('second')).post]).toEqual(['watcher', 'deputy'])
  await sql`UPDATE q.duty SET until = clock_timestamp() - interval '1 s' WHERE name = 'three posts'`.execute(db)
  // The post of the deputy is free as soon as the deputy is the watcher.
  expect([(await ask('second')).post, (await ask('first')).post, (await ask('third')).post]).toEqual([
    'watcher',
    'deputy',
    'none',
  ])
  await sql`UPDATE q.duty SET until = clock_timestamp() - interval '1 s' WHERE name LIKE 'three posts%'`.execute(db)
  expect(await ask('third')).toMatchObject({ post: 'watcher' })
})

test('the deputy, and no other replica, becomes the watcher as soon as the lock of the watcher is gone', async () => {
  const watcher = await present('dead watcher')
  const ask = async (replicaId: string) =>
    (await store.watchPresence({ replicaId, duty: 'passed on', watcherMs: 60_000, deputyMs: 60_000 })).post
  expect([await ask('dead watcher'), await ask('its deputy')]).toEqual(['watcher', 'deputy'])
  expect(await ask('its deputy')).toBe('deputy')
  await cut(watcher.num)
  await watcher.lost
  expect(await ask('a third')).toBe('none')
  for (let looks = 0; looks < 500 && (await ask('its deputy')) === 'deputy'; looks++);
  expect([await ask('its deputy'), await ask('a third')]).toEqual(['watcher', 'deputy'])
})

test('of many replicas that ask for the watch at once, one gets it and one is its deputy', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      another().watchPresence({ replicaId: `w${index}`, duty: 'at once', watcherMs: 60_000, deputyMs: 60_000 }),
    ),
  )
  expect(answers.filter(({ post: got }) => got === 'watcher')).toHaveLength(1)
  expect(answers.filter(({ post: got }) => got === 'deputy').length).toBeLessThanOrEqual(1)
})

test('a duty has one holder, who can renew it, and is free after it expires or is released', async () => {
  const duty = { name: 'reap', holder: 'a', forMs: 60_000 }
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
  const refused = await another().takeDuty({ ...duty, holder: 'b' })
  expect(refused.mine).toBe(false)
  expect(refused.untilInMs).toBeGreaterThan(50_000)
  await db
    .updateTable('q.duty')
    .set({ until: new Date(0) })
    .where('name', '=', 'reap')
    .execute()
  expect(await store.takeDuty({ ...duty, holder: 'b' })).toMatchObject({ mine: true })
  await store.releaseDuty(duty)
  expect(await store.takeDuty(duty)).toMatchObject({ mine: false })
  await store.releaseDuty({ ...duty, holder: 'b' })
  expect(await store.takeDuty(duty)).toMatchObject({ mine: true })
})

test('of many replicas that request a duty at once, one gets it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => another().takeDuty({ name: 'one', holder: `r${index}`, forMs: 60_000 })),
  )
  expect(answers.filter(({ mine }) => mine)).toHaveLength(1)
})

test('a replica that needs a duty more often takes it from a holder that keeps it for longer', async () => {
  await store.takeDuty({ name: 'checks', holder: 'patient', forMs: 60_000 })
  expect(await store.takeDuty({ name: 'checks', holder: 'eager', forMs: 1_000 })).toMatchObject({ mine: true })
  expect(await store.takeDuty({ name: 'checks', holder: 'patient', forMs: 60_000 })).toMatchObject({ mine: false })
})
