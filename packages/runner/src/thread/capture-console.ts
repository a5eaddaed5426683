/**
 * The console of task code. Each line that a run writes becomes a line of its log, as with `ctx.log`: it has the run id,
 * is bounded and is kept. Lines that code writes after its run has ended, or while its module is imported, go to the output
 * of the process.
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
      else if (run.context === undefined || run.ended)
        print(`run ${run.command.runId}, not executing: ${format(...args)}`)
      else run.context.log[level](format(...args))
    }
  }
  console.dir = (value: unknown, options?: InspectOptions) =>
    console.log(inspect(value, { customInspect: false, ...options }))
}
