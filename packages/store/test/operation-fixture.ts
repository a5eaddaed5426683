/** Operations on workflows and runs of their own database. */
import { sql } from 'kysely'
import type { Operation, Store } from '@q/store'
import { workflowFixture, type WorkflowFixture } from './workflow-fixture.ts'

export interface OperationFixture extends WorkflowFixture {
  /** All steps of the operation, by one holder. */
  toEnd(on: Store, operation: Operation, holder?: string, runsMax?: number): Promise<Operation>
  /** The number of runs of the task by status and epoch. */
  epochs(task: string): Promise<Record<string, number>>
}

export async function operationFixture(): Promise<OperationFixture> {
  const base = await workflowFixture()
  return {
    ...base,
    async toEnd(on, { id }, holder = 'r1', runsMax = 200) {
      for (let round = 0; round < 1_000; round++) {
        const { worked } = await on.stepOperations({ holder, forMs: 60_000, runsMax })
        if (worked?.id === id && worked.finishedAt !== null) return worked
      }
      throw new Error(`operation ${id} did not end`)
    },
    async epochs(task) {
      const { rows } = await sql<{ state: string; runs: number }>`
        SELECT status || ' ' || epoch AS state, count(*)::int AS runs FROM q.task_run WHERE task = ${task} GROUP BY 1`.execute(
        base.db,
      )
      return Object.fromEntries(rows.map(({ state, runs }) => [state, runs]))
    },
  }
}
