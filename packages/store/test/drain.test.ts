/** Ordering a drain, undoing it, and leaving: the last order counts, and a drain that was undone has no effect. */
import { programLevel } from '@q/schema'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, another, db } = await fixture()
const [person, replica] = [another(), another()]

const stats = {
  health: 'healthy',
  cpuPercent: 0,
  memoryMb: 0,
  activeRuns: 0,
  freeSlots: 1,
  completed: 0,
  failed: 0,
  uptimeS: 0,
} as const

async function registered(id: string): Promise<string> {
  await store.registerReplica(introduction(id, id))
  return id
}

async function orderOf(id: string) {
  return (await store.upsertReplicaHeartbeat(id, stats)).draining
}

test('the last order replaces deadline and onDeadline of earlier ones, even if it has none', async () => {
  const id = await registered('reordered')
  await store.drainReplica(id, { by: 'ada', deadlineMs: 1_000, onDeadline: 'fail' })
  await store.drainReplica(id, { by: 'bob', deadlineMs: 3_600_000, onDeadline: 'release' })
  const later = await orderOf(id)
  expect(later).toMatchObject({ by: 'bob', onDeadline: 'release' })
  expect(later?.deadlineInMs).toBeGreaterThan(3_000_000)
  await store.drainReplica(id, { by: 'cyd' })
  expect(await orderOf(id)).toEqual({ by: 'cyd', deadlineInMs: null, onDeadline: 'by-task' })
})

test('undoing a drain returns its outcome: claiming, leaving, not-draining, not-found', async () => {
  const id = await registered('undone')
  expect(await store.undrainReplica(id)).toBe('not-draining')
  await store.drainReplica(id, { by: 'ada', deadlineMs: 0, onDeadline: 'fail' })
  expect(await store.undrainReplica(id)).toBe('claiming')
  expect(await orderOf(id)).toBeNull()
  expect(await store.undrainReplica(id)).toBe('not-draining')
  await store.announceLeaving(id, { deadlineMs: 25_000 })
  expect(await store.undrainReplica(id)).toBe('leaving')
  expect(await orderOf(id)).toMatchObject({ by: 'itself', onDeadline: 'by-task' })
  await store.retireReplica(id)
  expect(await store.undrainReplica(id)).toBe('not-found')
  expect(await store.undrainReplica('never-there')).toBe('not-found')
})

test('a drain of an older release cannot be undone: that program would keep draining', async () => {
  const id = await registered('older')
  await db.updateTable('q.replica').set({ level: null }).where('id', '=', id).execute()
  await store.drainReplica(id, { by: 'ada' })
  expect(await store.undrainReplica(id)).toBe('leaving')
  expect(await orderOf(id)).toMatchObject({ by: 'ada' })
})

test('a replica leaves by order when its runs have finished or the deadline is reached, and not before', async () => {
  const id = await registered('waiting')
  expect(await store.leaveIfOrdered(id, { finished: true })).toEqual({ decision: 'claiming' })
  await store.drainReplica(id, { by: 'ada' })
  expect(await store.leaveIfOrdered(id, { finished: false })).toMatchObject({ decision: 'draining' })
  await store.drainReplica(id, { by: 'bob', deadlineMs: 3_600_000, onDeadline: 'fail' })
  expect(await store.leaveIfOrdered(id, { finished: false })).toMatchObject({
    decision: 'draining',
    order: { by: 'bob', onDeadline: 'fail' },
  })
  expect(await store.undrainReplica(id)).toBe('claiming')
  await store.drainReplica(id, { by: 'cyd', deadlineMs: 0, onDeadline: 'release' })
  expect(await store.leaveIfOrdered(id, { finished: false })).toMatchObject({
    decision: 'leaving',
    order: { onDeadline: 'release' },
  })
  expect(await store.undrainReplica(id)).toBe('leaving')
  const finished = await registered('finished')
  await store.drainReplica(finished, { by: 'ada' })
  expect(await store.leaveIfOrdered(finished, { finished: true })).toMatchObject({ decision: 'leaving' })
})

test('a replica whose row was deleted registers again with the drain that it follows, and leaves by it', async () => {
  const id = await registered('deleted')
  await store.drainReplica(id, { by: 'ada' })
  await db.deleteFrom('q.replica').where('id', '=', id).execute()
  expect(await store.leaveIfOrdered(id, { finished: true })).toEqual({ decision: 'unknown' })
  const draining = { by: 'ada', deadlineMs: 3_600_000, onDeadline: 'release', leaving: false } as const
  await store.registerReplica({ ...introduction(id, id), draining })
  expect(await orderOf(id)).toMatchObject({ by: 'ada', onDeadline: 'release' })
  expect(await store.undrainReplica(id)).toBe('claiming')
  await store.registerReplica({ ...introduction(id, id), draining: { by: 'itself', leaving: true } })
  expect(await store.undrainReplica(id)).toBe('leaving')
})

test('of undoing a drain and leaving, exactly one succeeds', { repeats: 9 }, async () => {
  const id = await registered(`raced-${Math.random()}`)
  await store.drainReplica(id, { by: 'ada' })
  const [undone, left] = await Promise.all([person.undrainReplica(id), replica.leaveIfOrdered(id, { finished: true })])
  expect([
    ['claiming', 'claiming'],
    ['leaving', 'leaving'],
  ]).toContainEqual([undone, left.decision])
})

test('of two calls that undo a drain, one returns claiming and the other not-draining', async () => {
  const id = await registered('undone-twice')
  await store.drainReplica(id, { by: 'ada' })
  const answers = await Promise.all([person.undrainReplica(id), replica.undrainReplica(id)])
  expect(answers.toSorted()).toEqual(['claiming', 'not-draining'])
})

test('the response to a heartbeat reports a program that the database declares too old', async () => {
  const id = await registered('too-old')
  expect(await store.upsertReplicaHeartbeat(id, stats)).toMatchObject({ tooOld: false })
  const { oldest_program: before } = await db.selectFrom('q.compatibility').selectAll().executeTakeFirstOrThrow()
  const demand = (level: number) => db.updateTable('q.compatibility').set({ oldest_program: level }).execute()
  await demand(await programLevel())
  expect(await store.upsertReplicaHeartbeat(id, stats)).toMatchObject({ tooOld: false })
  await demand((await programLevel()) + 1)
  expect(await store.upsertReplicaHeartbeat(id, stats)).toMatchObject({ tooOld: true })
  await demand(before)
})
