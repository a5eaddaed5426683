/**
 * Child processes for runs that must not share a process: tasks with `isolation: 'process'`, and suspects. A child is
 * reused after a run that ended normally, for runs with the same memory limit, and replaced otherwise. If a task of this
 * replica requires processes, one idle child is kept ready. Other children are forked on demand and kept for a few seconds:
 * a dead replica leaves many suspects, and a new process costs more than most of them.
 */
import type { TaskDescription } from '../../protocol/messages.ts'
import { startChild, type Child } from './child-process.ts'
import { pause } from '../loop.ts'
import type { Executor } from './executor.ts'

export interface ProcessOptions {
  readonly taskModules: readonly string[]
  /** The runner's shared memory. */
  readonly slotMemory: SharedArrayBuffer
  readonly env: NodeJS.ProcessEnv
  /** The most children at once: the number of slots. */
  readonly processesMax: number
}

export interface ProcessPool extends Executor {
  /** Keeps children ready for those of these tasks that require processes. */
  keepWarm(tasks: readonly TaskDescription[]): void
}

/** How long an idle child is kept if no task of this replica requires it. */
const keptMs = 5_000

export function createProcesses(options: ProcessOptions): ProcessPool {
  const all = new Set<Child>()
  const idle = new Set<Child>()
  const closing = new AbortController()
  /** Memory limits of the tasks that require processes. */
  let limits = new Map<string, number | null>()
  let closed = false

  function start(memoryLimitMb: number | null): Child {
    const { taskModules, env, slotMemory } = options
    const child = startChild({ taskModules, env, memoryLimitMb, slotMemory })
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

  function keepOrEnd(child: Child): void {
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
    run(command, executeOptions) {
      const child = take(limits.get(command.task) ?? null)
      const running = child.run(command, executeOptions)
      keepSpares()
      const report = running.report.then(async (ended) => {
        const inOrder = ended.ended === 'returned' || ended.ended === 'failed' || ended.ended === 'snoozed'
        if (inOrder) keepOrEnd(child)
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
