/**
 * Child processes for runs that must not share one: `isolation: 'process'`, and suspects. A child is used again after
 * a run that ended in order, if the next one has all of its memory limit there, and replaced after any other. While a
 * known task asks for processes, one more than are busy is kept warm; otherwise they are forked when needed and kept for a
 * few seconds: a replica that died leaves many suspects, and each new process costs more than most of them.
 */
import type { TaskDescription } from '../protocol.ts'
import { startChild, type Child } from './child-process.ts'
import { pause } from './loop.ts'
import type { Workplace } from './workplace.ts'

export interface ProcessOptions {
  readonly taskModules: readonly string[]
  /** The runner's pulse slots. */
  readonly pulse: SharedArrayBuffer
  readonly env: NodeJS.ProcessEnv
  /** At most so many at once: the slots. */
  readonly processesMax: number
}

export interface ProcessPool extends Workplace {
  /** Told which tasks there are, it keeps children warm for those that ask for processes. */
  keepWarm(tasks: readonly TaskDescription[]): void
}

/** How long a child is kept that no task asks for. */
const keptMs = 5_000

export function createProcesses(options: ProcessOptions): ProcessPool {
  const all = new Set<Child>()
  const idle = new Set<Child>()
  const closing = new AbortController()
  /** Memory limits of the tasks that ask for processes. */
  let limits = new Map<string, number | null>()
  let closed = false

  function start(memoryLimitMb: number | null): Child {
    const { taskModules, env, pulse } = options
    const child = startChild({ taskModules, env, memoryLimitMb, pulse })
    all.add(child)
    void child.gone.then(() => all.delete(child) && idle.delete(child))
    return child
  }

  function take(memoryLimitMb: number | null): Child {
    const spare = [...idle].find((child) => child.memoryLimitMb === memoryLimitMb && child.usable())
    if (spare !== undefined) idle.delete(spare)
    return spare ?? start(memoryLimitMb)
  }

  function keepSpares(): void {
    if (closed) return
    for (const limit of new Set(limits.values())) {
      if (all.size >= options.processesMax) return
      if (![...idle].some((child) => child.memoryLimitMb === limit)) idle.add(start(limit))
    }
  }

  function giveBack(child: Child): void {
    if (closed || !child.usable()) return end(child)
    idle.add(child)
    if (![...limits.values()].includes(child.memoryLimitMb)) void endUnlessUsed(child)
  }

  async function endUnlessUsed(child: Child): Promise<void> {
    const { runs } = child
    await pause(keptMs, closing.signal)
    if (child.runs === runs && idle.delete(child)) end(child)
  }

  function end(child: Child): void {
    child.kill()
    void child.gone.then(keepSpares)
  }

  return {
    keepWarm(tasks) {
      const isolated = tasks.filter(({ options: { isolation } }) => isolation === 'process')
      limits = new Map(isolated.map(({ name, options: { memoryLimitMb } }) => [name, memoryLimitMb]))
      keepSpares()
    },
    run(order, terms) {
      const child = take(limits.get(order.task) ?? null)
      const running = child.run(order, terms)
      keepSpares()
      const report = running.report.then(async (ended) => {
        const inOrder = ended.ended === 'returned' || ended.ended === 'failed' || ended.ended === 'snoozed'
        if (inOrder) giveBack(child)
        else {
          child.kill()
          await child.gone
          keepSpares()
        }
        return ended
      })
      return { ...running, report }
    },
    async close() {
      closed = true
      closing.abort()
      for (const child of all) child.kill()
      await Promise.all([...all].map((child) => child.gone))
    },
  }
}
