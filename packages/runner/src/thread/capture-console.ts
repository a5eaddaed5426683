/**
 * The console of task code: what a run writes there is a line of its log, as if it had called `ctx.log`, and so has its
 * run id, is bounded and is kept. What code writes when its run has ended, or while its module is imported, goes to the
 * output of the process.
 */
import { format, inspect, type InspectOptions } from 'node:util'
import type { CurrentRuns } from './current-run.ts'

const levels = { log: 'info', info: 'info', debug: 'debug', warn: 'warn', error: 'error' } as const

export function captureConsole(runs: Pick<CurrentRuns, 'current'>): void {
  for (const [method, level] of Object.entries(levels) as [keyof typeof levels, (typeof levels)['log']][]) {
    const print = console[method].bind(console)
    console[method] = (...args: unknown[]) => {
      const run = runs.current()
      if (run === undefined) print(...args)
      else if (run.log === undefined || run.ended) print(`run ${run.order.runId}, not executing: ${format(...args)}`)
      else run.log[level](format(...args))
    }
  }
  console.dir = (value: unknown, options?: InspectOptions) =>
    console.log(inspect(value, { customInspect: false, ...options }))
}
