/** Runs that were started in the database and whose code never began, on their way back. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, leaseOf, type RunId } from '@q/store'
import { testDatabase } from '@q/testing'
import { releaseUnstarted } from '../src/main/execute/release.ts'
import { createHeldRuns } from '../src/main/liveness/held-runs.ts'

const replicaId = 'replica-aaaa'

async function scene() {
  const database = await testDatabase()
  const { db, close } = connect(database.url, { purpose: 'pool' })
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  const store = createStore(db)
  const lane = await store.internLane({ queue: 'default', task: 'echo' })
  await store.enqueueTaskRuns(Array.from({ length: 3 }, () => ({ task: 'echo', lane, payload: {} })))
  const heldRuns = createHeldRuns()
  const runs = await heldRuns.claiming(0, () =>
    store.claimAvailableTaskRuns({ replicaId, tasks: ['echo'], queues: [], limit: 3 }),
  )
  return { db, store, heldRuns, runs }
}

test('a run that was released or lost in the meantime is no longer held; a run that another transaction has locked is, and may still begin', async () => {
  const { db, store, heldRuns, runs } = await scene()
  const [given, lost, locked] = runs
  // A reaper considered it dead.
  await store.releaseTaskRuns([leaseOf(lost!)])
  const released: RunId[][] = []
  const observe = (event: object) => void ('runIds' in event && released.push(event.runIds as RunId[]))
  await db.transaction().execute(async (trx) => {
    await sql`SELECT 1 FROM q.task_run WHERE id = ${locked!.runId} FOR UPDATE`.execute(trx)
    expect(await releaseUnstarted({ store, replicaId, heldRuns, observe }, runs)).toEqual([given!.runId, lost!.runId])
  })
  expect(released).toEqual([[given!.runId]])
  expect(runs.map((run) => heldRuns.find(run))).toEqual([undefined, undefined, locked])
  expect(await releaseUnstarted({ store, replicaId, heldRuns, observe }, [locked!])).toEqual([locked!.runId])
})
