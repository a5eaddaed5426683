// packages/examples/src/long-loop/tasks.ts
import { task, type TaskContext } from '@q/task'

/** What is saved, and found again by a later attempt. */
interface Place {
  readonly row: number
  readonly sum: number
}

export const sumRows = task(
  { onCrash: 'retry', retry: { attempts: 3 } },
  async ({ rows }: { rows: number }, ctx: TaskContext<Place>) => {
    let { row, sum } = ctx.resumed ?? { row: 0, sum: 0 }
    const begunAt = row
    for (; row < rows; row++) {
      ctx.heartbeat(row / rows) // cheap: in every round
      if (row % 1_000 === 0) await ctx.checkpoint({ row, sum }) // a statement: now and then
      sum += Math.sqrt(row)
    }
    return { sum, begunAt }
  },
)
