/** The timeline is in the order of claims, and of time where claims do not decide. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import type { Outcome, RunDetail, RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, db, enqueue, claimOne } = await fixture()
const ok: Outcome = { status: 'SUCCEEDED', result: '1' }

async function timeline(id: RunId): Promise<RunDetail['timeline']> {
  return (await store.getTaskRun(id))!.timeline
}

function what(entries: RunDetail['timeline']): string[] {
  return entries.map((entry) => (entry.what === 'noted' ? entry.kind : entry.what))
}

test('a write that is refused after the next claim has begun stands after its start, and no time goes back', async () => {
  const [id] = await enqueue('zombie', { onCrash: 'retry' })
  const old = leaseOf(await claimOne('zombie', 'absent'))
  await store.reap({ by: 'reaper' })
  const next = leaseOf(await claimOne('zombie', 'r2'))
  await store.settleTaskRuns([{ lease: old, outcome: ok, by }])
  await store.settleTaskRuns([{ lease: next, outcome: ok, by }])
  const entries = await timeline(id!)
  const expected = ['enqueued', 'started', 'crashed', 'recovered', 'started', 'refused-settle', 'succeeded']
  expect(what(entries)).toEqual(expected)
  const times = entries.map(({ at }) => at!.getTime())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('a request to cancel stands before the sign of life that came later, and before the end that it caused', async () => {
  const [id] = await enqueue('cancelled')
  const lease = leaseOf(await claimOne('cancelled', 'r1'))
  await store.cancelTaskRuns([id!])
  const sender = { replicaId: 'r1', hostname: 'h', pid: 1 }
  await store.beatTaskRuns(sender, [{ lease, thread: 0, ageMs: 0, progress: null, note: 'still here' }])
  expect(what(await timeline(id!))).toEqual(['enqueued', 'started', 'cancel-requested', 'beat'])
  await store.settleTaskRuns([{ lease, outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: '' }, by }])
  expect(what(await timeline(id!))).toEqual(['enqueued', 'started', 'cancel-requested', 'cancelled'])
})

test('when the clock of the server was set back, claims keep their order', async () => {
  const [id] = await enqueue('clock', { onCrash: 'retry' })
  const old = leaseOf(await claimOne('clock', 'absent'))
  await store.reap({ by: 'reaper' })
  const next = leaseOf(await claimOne('clock', 'r2'))
  await store.settleTaskRuns([{ lease: old, outcome: ok, by }])
  await store.settleTaskRuns([{ lease: next, outcome: ok, by }])
  await sql`UPDATE q.task_attempt SET started_at = started_at + interval '1 hour', ended_at = ended_at + interval '1 hour'
    WHERE run_id = ${id} AND fence = ${old.fence}`.execute(db)
  const order = what(await timeline(id!)).filter((entry) => !entry.startsWith('refused'))
  expect(order).toEqual(['enqueued', 'started', 'crashed', 'recovered', 'started', 'succeeded'])
})

test('a run whose holder died and that is not started again ends once: with its crashed attempt', async () => {
  const [id] = await enqueue('dies')
  await claimOne('dies', 'absent')
  await store.reap({ by: 'reaper' })
  expect(what(await timeline(id!))).toEqual(['enqueued', 'started', 'crashed', 'recovered'])
})
