/**
 * A replica without threads that is moved by hand: it looks when it is asked to, takes one run at a time and executes it
 * in this process. For tests. A run's story is the same as everywhere (main/execute.ts), only the workplace is another;
 * so what becomes of a run here is what becomes of it in production.
 */
import { ExplainedError } from '@q/schema'
import { createFairShares, type ClaimedRun, type ReplicaIntroduction, type RunId, type Store } from '@q/store'
import { checkDescription } from '../main/check-description.ts'
import { harmless, type Observe } from '../main/events.ts'
import { executeRun, type ExecuteDeps } from '../main/execute.ts'
import { newReplicaId, thisHost } from '../main/identity.ts'
import { limitKeys, optionsOf, publishOwnSchedules } from '../main/known-tasks.ts'
import { enqueueDue } from '../main/loops/schedule.ts'
import { createPublished, type FindDestination } from '../main/published.ts'
import { createPulseBoard } from '../main/pulse-board.ts'
import { createRequests } from '../main/requests.ts'
import { createSettlements } from '../main/settle.ts'
import { createSlots } from '../main/slots.ts'
import { createStepInputs } from '../main/step-inputs.ts'
import { createTaskLogs } from '../main/task-logs.ts'
import { presets, type Preset } from '../presets.ts'
import type { TaskDescription } from '../protocol.ts'
import { describe } from '../thread/describe.ts'
import { registryOf, type Registry } from '../thread/registry.ts'
import { byCalendar, type Calendar } from './by-calendar.ts'
import { inlineWorkplace } from './inline-workplace.ts'
import { watchRun } from './watch-run.ts'

export interface InlineReplicaOptions {
  readonly store: Store
  /** What a module of tasks exports. */
  readonly tasks: object
  /** The URL of the store's database, for tasks with `database: true`. */
  readonly databaseUrl?: string
  /** Who gives them, for people: `testQueue()`. */
  readonly home: string
  readonly observe?: Observe
}

export interface Opened {
  /** Runs that were not started before their deadline. */
  readonly expired: readonly RunId[]
  /** Runs whose holder was taken for dead. */
  readonly recovered: readonly RunId[]
}

export interface InlineReplica {
  readonly replicaId: string
  readonly tasks: readonly TaskDescription[]
  /** Shows that it lives, and does what replicas do about time: due runs, deadlines, holders that died; ticks by the calendar. */
  openGates(calendar: Calendar): Promise<Opened>
  /** The next run that is ready, executed and settled; undefined: none is. */
  executeNext(): Promise<ClaimedRun | undefined>
  /** Another replica starts the next run of a task, and is never heard of again; undefined: none is ready. */
  abandonNext(task: string): Promise<ClaimedRun | undefined>
}

const batchMax = 500
const stopGraceMs = 1_000

/** Introduces itself and publishes its tasks, as every replica does. Rejects with all that is wrong with them. */
export async function openInlineReplica(options: InlineReplicaOptions): Promise<InlineReplica> {
  const { store } = options
  const observe = harmless(options.observe ?? (() => {}))
  const registry = registryOf([{ home: options.home, exported: options.tasks }])
  const tasks = checkDescription(describe(registry))
  const introduction = introduce(tasks)
  await store.registerReplica(introduction)
  await store.publishTasks(introduction.id, tasks)
  await limitKeys(store, tasks)
  await publishOwnSchedules(store, introduction.id, tasks)
  const findDestination = createPublished(store, nowMs)
  const execution = executionOf(options, { observe, registry, tasks, findDestination })
  const shares = createFairShares()
  return {
    replicaId: introduction.id,
    tasks,
    async openGates(calendar) {
      await store.registerReplica(introduction) // its beat; and if it was forgotten meanwhile, it is known again
      const { ids: recovered } = await store.reap({ by: introduction.id })
      const expired = await expireAll()
      await tick(calendar)
      await store.sweepTaskGate()
      await promoteAllDue()
      await store.sweepGatedKeys(batchMax)
      return { expired, recovered }
    },
    async executeNext() {
      const claimed =
        (await claimNext()) ?? ((await store.sweepGatedKeys(batchMax)).length > 0 ? await claimNext() : undefined)
      if (claimed === undefined) return undefined
      const executing = executeRun(execution, claimed, execution.slots.take())
      const watch = watchRun(execution, introduction)
      try {
        await executing
      } finally {
        await watch.stop()
      }
      return claimed
    },
    async abandonNext(task) {
      const another = introduce(tasks)
      await store.registerReplica(another)
      await promoteAllDue()
      return claim({ ...another, tasks: [task] })
    },
  }

  /** Who looks after a schedule that cannot be enqueued is here, and is told. */
  async function tick(calendar: Calendar): Promise<void> {
    const failures: ExplainedError[] = []
    const noting: Observe = (event) => {
      if (event.type === 'schedule-failed') failures.push(notEnqueued(event.schedule, event.error))
      observe(event)
    }
    await enqueueDue({ store: byCalendar(store, calendar), findDestination, observe: noting, onEnqueued: () => {} })
    const [failed] = failures
    if (failed !== undefined) throw failed
  }

  async function expireAll(): Promise<RunId[]> {
    const batch = await store.expireTaskRuns(batchMax)
    return batch.length < batchMax ? batch : [...batch, ...(await expireAll())]
  }

  async function promoteAllDue(): Promise<void> {
    while ((await store.promoteDueTaskRuns(batchMax)).looked === batchMax);
  }

  function claimNext(): Promise<ClaimedRun | undefined> {
    return claim(introduction)
  }

  async function claim({
    id,
    tasks: known,
    queues,
    capabilities,
  }: ReplicaIntroduction): Promise<ClaimedRun | undefined> {
    const request = { replicaId: id, tasks: known, queues, capabilities, shares, limit: 1 }
    return (await store.claimAvailableTaskRuns(request))[0]
  }
}

interface ExecutionParts {
  readonly observe: Observe
  readonly registry: Registry
  readonly tasks: readonly TaskDescription[]
  readonly findDestination: FindDestination
}

function executionOf({ store, databaseUrl }: InlineReplicaOptions, known: ExecutionParts): ExecuteDeps {
  const { observe, registry, tasks, findDestination } = known
  const pulseBoard = createPulseBoard(1)
  const place = inlineWorkplace(registry, pulseBoard.memory)
  return {
    store,
    databaseUrl,
    observe,
    pulseBoard,
    slots: createSlots(1),
    workplaces: { threads: place, processes: place },
    settlements: createSettlements(store, { finish: () => Promise.resolve(false) }),
    stepInputs: createStepInputs(store),
    requests: createRequests({ store, observe, findDestination, onEnqueued: () => {} }),
    logs: createTaskLogs(store, observe),
    host: thisHost(),
    optionsOf: optionsOf(tasks),
    limits: { ...preset, noEvidenceMs: Number.POSITIVE_INFINITY },
    stopGraceMs,
    onDeadline: () => 'by-task',
    nowMs,
    count: () => {},
    dueIn: () => {},
  }
}

function nowMs(): number {
  return performance.now()
}

const preset: Preset = presets['default'] as Preset

function introduce(tasks: readonly TaskDescription[]): ReplicaIntroduction {
  return {
    id: newReplicaId(),
    name: 'inline',
    ...thisHost(),
    version: 'inline',
    queues: [],
    tasks: tasks.map(({ name }) => name),
    // Whatever the tasks may ask for is here.
    capabilities: [...new Set(tasks.flatMap(({ options }) => options.requires))],
    slots: 1,
    preset: 'default',
    onCrash: preset.onCrash,
    thresholds: preset.thresholds,
  }
}

function notEnqueued(schedule: string, cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_FAILED',
    what: `A tick of the schedule "${schedule}" could not be enqueued.`,
    why: cause instanceof Error ? cause.message : String(cause),
    fix: 'Make it what its task can take: q.schedule() under the same name, or remove it with q.unschedule().',
    cause,
  })
}
