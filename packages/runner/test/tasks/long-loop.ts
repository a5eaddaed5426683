/** A long loop that continues where it was. */
import { appendFileSync } from 'node:fs'
import { task, type TaskContext } from '@q/task'

export interface Rows {
  readonly rows: number
  /** Gets a line for each row that is worked on. */
  readonly file: string
  /** The first attempt is busy with this row forever. */
  readonly stuckAt: number
}

interface Place {
  readonly row: number
  readonly sum: number
}

export const sumsRows = task({ onCrash: 'retry' }, async ({ rows, file, stuckAt }: Rows, ctx: TaskContext<Place>) => {
  let { row, sum } = ctx.resumed ?? { row: 0, sum: 0 }
  const begunAt = row
  for (; row < rows; row++) {
    if (row % 10 === 0) await ctx.checkpoint({ row, sum })
    ctx.heartbeat(row / rows)
    if (row === stuckAt && ctx.attempt === 1) for (;;) ctx.heartbeat()
    appendFileSync(file, `${row}\n`)
    sum += squareRoots(row)
  }
  return { begunAt, sum }
})

/** The value of a row, computed slowly. */
export function squareRoots(row: number): number {
  let whole = 0
  for (let n = 1; n <= 100_000 + row; n++) if (Number.isInteger(Math.sqrt(n))) whole++
  return whole + row
}
