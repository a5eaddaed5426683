/** What a command and a read cost beside a wide map, by the rows that they read. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import type { Db } from '../src/connection/db.ts'
import { listSteps } from '../src/reads/workflows/workflow.ts'
import { retryFailedSteps } from '../src/workflows/retry.ts'
import { failed, plain, step, workflowFixture } from './workflow-fixture.ts'

const { start, endAll, db } = await workflowFixture()
const items = 2_000
const list = Array.from({ length: items }, (_, index) => index)

function map(task: string): StepPlan {
  return { kind: 'map', name: 'm', task, over: { from: 'input', at: '' }, payload: plain() }
}

/** Rows of steps and edges that the work reads, with the statistics of a database with such maps. */
async function rowsRead(work: (trx: Db) => Promise<unknown>): Promise<number> {
  await sql`ANALYZE q.task_run, q.workflow_step, q.workflow_edge`.execute(db)
  return db.transaction().execute(async (trx) => {
    await work(trx)
    const { rows } = await sql<{ rows: number }>`
      SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
      WHERE schemaname = 'q' AND relname IN ('workflow_step', 'workflow_edge')`.execute(trx)
    return rows[0]!.rows
  })
}

test('a page beside a wide map reads each step and edge a few times', async () => {
  const workflow = await start({ steps: [map('listed'), step('use', ['m'])] }, list)
  const read = await rowsRead(async (trx) => {
    const steps = await listSteps(trx, workflow.id)
    expect(steps.slice(0, 3).map(({ name, parents }) => [name, ...parents])).toEqual([['m'], ['use', 'm'], ['m[0]']])
  })
  expect(read).toBeLessThan(10 * items)
})

test('the retry of a map whose items have all failed reads each step a few times', async () => {
  const workflow = await start({ steps: [map('failing')] }, list)
  expect(await endAll('failing', failed)).toBe(items)
  const read = await rowsRead(async (trx) => expect(await retryFailedSteps(trx, workflow.id)).toBe('retried'))
  expect(read).toBeLessThan(100 * items)
})
