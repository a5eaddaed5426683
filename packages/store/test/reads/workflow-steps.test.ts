/** The steps of a workflow, page by page. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { listSteps } from '../../src/reads/workflows/workflow.ts'
import { plain, step, workflowFixture } from '../workflow-fixture.ts'

const { start, db } = await workflowFixture()

test('a page beside a wide map reads each step and edge a few times, with the statistics of such a table', async () => {
  const items = 2_000
  const map: StepPlan = { kind: 'map', name: 'm', task: 'item', over: { from: 'input', at: '' }, payload: plain() }
  const list = Array.from({ length: items }, (_, index) => index)
  const workflow = await start({ steps: [map, step('use', ['m'])] }, list)
  await sql`ANALYZE q.task_run, q.workflow_step, q.workflow_edge`.execute(db)
  const read = await db.transaction().execute(async (trx) => {
    const steps = await listSteps(trx, workflow.id)
    expect(steps.slice(0, 3).map(({ name, parents }) => [name, ...parents])).toEqual([['m'], ['use', 'm'], ['m[0]']])
    const { rows } = await sql<{ rows: number }>`
      SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
      WHERE schemaname = 'q' AND relname IN ('workflow_step', 'workflow_edge')`.execute(trx)
    return rows[0]!.rows
  })
  expect(read).toBeLessThan(10 * items)
})
