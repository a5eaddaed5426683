/**
 * A replica without threads and loops, for tests: it acts when it is called, takes one run at a time and executes it in
 * this process. Runs take the same path as in production (main/execute/execute.ts); only the executor is another, so a run
 * ends here as it would there.
 */
import { createFairShares, type ClaimedRun, type ReplicaRegistration, type RunId, type Store } from '@q/store'
import { checkDescription } from '../main/load-task-descriptions.ts'
import { neverThrows, type Observe } from '../main/events.ts'
import { executeRun, type ExecuteDeps } from '../main/execute/execute.ts'
import { newReplicaId, thisHost } from '../main/identity.ts'
import { publishConcurrencyLimits, optionsOf, publishTaskSchedules } from '../main/execute/task-catalog.ts'
import { createRouteFinder, type FindRoute } from '../main/claim/task-routing.ts'
import { createRunCounts } from '../main/stats/run-counts.ts'
import { createRunMonitors } from '../main/liveness/run-monitors.ts'
import { nowMs } from '../main/loop.ts'
import { createContextRequests } from '../main/execute/context-requests.ts'
import { createSettlements } from '../main/execute/settle.ts'
import { createSlots } from '../main/dispatch/slots.ts'
import { createStepInputs } from '../main/execute/step-inputs.ts'
import { createTaskLogs } from '../main/execute/task-logs.ts'
import { presets, type Preset } from '../settings/presets.ts'
import type { TaskDescription } from '../protocol/messages.ts'
import { describe } from '../thread/describe.ts'
import { registryOf, type Registry } from '../thread/registry.ts'
import { batchMax, enqueueDueSchedules, expireAll, promoteAllDue } from './inline-gates.ts'
import type { VirtualClock } from './virtual-clock.ts'
import { inlineExecutor } from './inline-executor.ts'
import { startInlineLimits } from './inline-limits.ts'

export interface InlineReplicaOptions {
  readonly store: Store
  /** The exports of a task module. */
  readonly tasks: object
  /** The URL of the store's database, for tasks with `database: true`. */
  readonly databaseUrl?: string
  /** The function that passes them, for error messages: `testQueue()`. */
  readonly home: string
  readonly observe?: Observe
}

export interface OpenedGates {
  /** Runs that were not started before their deadline. */
  readonly expired: readonly RunId[]
  /** Runs whose holder was considered dead. */
  readonly recovered: readonly RunId[]
}

export interface InlineReplica {
  readonly replicaId: string
  readonly tasks: readonly TaskDescription[]
  /** Sends a heartbeat, and does what replicas do about time: due runs, deadlines, dead holders, schedules by this clock. */
  openGates(clock: VirtualClock): Promise<OpenedGates>
  /** The next run that is ready, executed and settled; undefined: none is. */
  executeNext(): Promise<ClaimedRun | undefined>
  /** Another replica starts the next run of a task and sends nothing after that; undefined: none is ready. */
  abandonNext(task: string): Promise<ClaimedRun | undefined>
}

const stopGraceMs = 1_000

/** Registers and publishes its tasks, as every replica does. Rejects with all problems of the tasks. */
export async function openInlineReplica(options: InlineReplicaOptions): Promise<InlineReplica> {
  const { store } = options
  const observe = neverThrows(options.observe ?? (() => {}))
  const registry = registryOf([{ home: options.home, exported: options.tasks }])
  const tasks = checkDescription(describe(registry))
  const registration = registrationOf(tasks)
  await store.registerReplica(registration)
  await store.publishTasks(registration.id, tasks)
  await publishConcurrencyLimits(store, tasks)
  await publishTaskSchedules(store, registration.id, tasks)
  const routeOf = createRouteFinder(store, nowMs)
  const execution = executionOf(options, { observe, registry, tasks, routeOf })
  const shares = createFairShares()
  return {
    replicaId: registration.id,
    tasks,
    async openGates(clock) {
      await store.registerReplica(registration) // its heartbeat; if its row was removed, it is there again
      const { ids: recovered } = await store.reap({ by: registration.id })
      const expired = await expireAll(store)
      await enqueueDueSchedules({ store, routeOf, observe }, clock)
      await store.sweepTaskGate()
      await promoteAllDue(store)
      await store.sweepGatedKeys(batchMax)
      return { expired, recovered }
    },
    async executeNext() {
      const claimed =
        (await claimNext()) ?? ((await store.sweepGatedKeys(batchMax)).length > 0 ? await claimNext() : undefined)
      if (claimed === undefined) return undefined
      const executing = executeRun(execution, claimed, execution.slots.take())
      const limits = startInlineLimits(execution, registration)
      try {
        await executing
      } finally {
        await limits.stop()
      }
      return claimed
    },
    async abandonNext(task) {
      const another = registrationOf(tasks)
      await store.registerReplica(another)
      await promoteAllDue(store)
      return claim({ ...another, tasks: [task] })
    },
  }

  function claimNext(): Promise<ClaimedRun | undefined> {
    return claim(registration)
  }

  async function claim({
    id,
    tasks: known,
    queues,
    capabilities,
  }: ReplicaRegistration): Promise<ClaimedRun | undefined> {
    const request = { replicaId: id, tasks: known, queues, capabilities, shares, limit: 1 }
    return (await store.claimAvailableTaskRuns(request))[0]
  }
}

interface ExecutionParts {
  readonly observe: Observe
  readonly registry: Registry
  readonly tasks: readonly TaskDescription[]
  readonly routeOf: FindRoute
}

function executionOf({ store, databaseUrl }: InlineReplicaOptions, known: ExecutionParts): ExecuteDeps {
  const { observe, registry, tasks, routeOf } = known
  const runMonitors = createRunMonitors(1)
  const executor = inlineExecutor(registry, runMonitors.memory)
  return {
    store,
    databaseUrl,
    observe,
    runMonitors,
    slots: createSlots(1),
    executors: { threads: executor, processes: executor },
    settlements: createSettlements(store, { finish: () => Promise.resolve(false) }),
    stepInputs: createStepInputs(store),
    requests: createContextRequests({ store, observe, routeOf, onEnqueued: () => {} }),
    logs: createTaskLogs(store, observe),
    host: thisHost(),
    optionsOf: optionsOf(tasks),
    limits: { ...preset, noEvidenceMs: Number.POSITIVE_INFINITY },
    stopGraceMs,
    onDeadline: () => 'by-task',
    nowMs,
    counts: createRunCounts({ version: 'inline', count: () => {} }),
    dueIn: () => {},
  }
}

const preset: Preset = presets['default'] as Preset

function registrationOf(tasks: readonly TaskDescription[]): ReplicaRegistration {
  return {
    id: newReplicaId(),
    name: 'inline',
    ...thisHost(),
    version: 'inline',
    queues: [],
    tasks: tasks.map(({ name }) => name),
    // All that the tasks may require.
    capabilities: [...new Set(tasks.flatMap(({ options }) => options.requires))],
    slots: 1,
    preset: 'default',
    onCrash: preset.onCrash,
    thresholds: preset.thresholds,
  }
}
