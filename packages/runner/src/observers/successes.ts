/**
 * Logs successes: a line each up to a bound per second, then one line for the rest of that second, by task. A replica
 * can end thousands of short runs a second, and a log line would cost more than the run.
 */
export interface Successes {
  /** Whether this success gets a line of its own. */
  add(task: string): boolean
}

const linesPerSecond = 50
const secondMs = 1_000

export function createSuccesses(summarize: (runs: number, tasks: Readonly<Record<string, number>>) => void): Successes {
  let lines = 0
  let counts: Map<string, number> | undefined
  let timer: NodeJS.Timeout | undefined

  function endSecond(): void {
    timer = undefined
    lines = 0
    if (counts === undefined) return
    const tasks = Object.fromEntries(counts)
    counts = undefined
    summarize(
      Object.values(tasks).reduce((sum, runs) => sum + runs, 0),
      tasks,
    )
  }

  return {
    add(task) {
      timer ??= setTimeout(endSecond, secondMs).unref()
      if (++lines <= linesPerSecond) return true
      counts ??= new Map()
      counts.set(task, (counts.get(task) ?? 0) + 1)
      return false
    },
  }
}
