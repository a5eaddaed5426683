// packages/examples/src/long-loop/tasks.ts
import { task, type TaskContext } from '@q/task'

/** The state that an attempt saves and a later attempt continues from. */
interface Position {
  readonly row: number
  readonly sum: number
}

export const sumRows = task(
  { onCrash: 'retry', retry: { attempts: 3 } },
  async ({ rows }: { rows: number }, ctx: TaskContext<Position>) => {
    let { row, sum } = ctx.resumed ?? { row: 0, sum: 0 }
    const begunAt = row
    for (; row < rows; row++) {
      ctx.heartbeat(row / rows) // cheap: call it in every iteration
      if (row % 1_000 === 0) await ctx.checkpoint({ row, sum }) // costs a statement: call it less often
      sum += Math.sqrt(row)
    }
    return { sum, begunAt }
  },
)
