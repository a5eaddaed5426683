/**
 * A replica: the composition root. The boot order is `startRunner`, read from top to bottom; the drain order is drain.ts.
 *
 * Law: the first heartbeat is accepted before the first claim (registering sends it), and beats stop last, after the
 * last run has settled.
 */
import type { ReplicaIntroduction, Store } from '@q/store'
import type { RunnerConfig } from '../config.ts'
import type { TaskDescription } from '../protocol.ts'
import { checkDescription, described } from './check-description.ts'
import { openConnections } from './connections.ts'
import type { Departure } from './drain.ts'
import { harmless, type Observe } from './events.ts'
import { newReplicaId, thisHost } from './identity.ts'
import { createPulseBoard } from './pulse-board.ts'
import { createFigures, type ThreadFigures } from './figures.ts'
import { limitKeys, publishOwnSchedules } from './known-tasks.ts'
import { startWork } from './work.ts'
import { startWorkplaces } from './workplaces.ts'

export interface Runner {
  readonly replicaId: string
  readonly name: string
  readonly tasks: readonly TaskDescription[]
  /** What every slot is doing. */
  threads(): readonly ThreadFigures[]
  /** As SIGTERM: stops claiming, lets runs finish for `Q_DRAIN_MS`, then leaves. Called again: the deadline is now. */
  drain(): Promise<void>
  /** Resolves when it has left, for whatever reason. */
  readonly left: Promise<Departure>
}

export interface RunnerOptions {
  readonly databaseUrl: string
  /** Without a pooler in between; for presence and wakes. Default: `databaseUrl`. */
  readonly directUrl?: string
  readonly config: RunnerConfig
  readonly version: string
  /** file: URLs. */
  readonly taskModules: readonly string[]
  readonly observe: Observe
  /** A start that is retried passes the same id, so that it leaves one row. Default: a new id. */
  readonly replicaId?: string
  /** Aborts when it is to leave before it has come: it then introduces itself to nobody, and rejects. */
  readonly leaving?: AbortSignal
}

export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { config, databaseUrl, taskModules } = options
  const observe = harmless(options.observe)
  const pulseBoard = createPulseBoard(config.threads)
  const connections = await openConnections(databaseUrl, config, observe)
  const workplaces = startWorkplaces(config, { taskModules, pulse: pulseBoard.memory })
  let registered: string | undefined
  const closeAll = async () => {
    await workplaces.close()
    await connections.close()
  }
  try {
    const tasks = checkDescription(await described(workplaces.threads, options.leaving))
    options.leaving?.throwIfAborted()
    workplaces.processes.keepWarm(tasks)
    const introduction = introduce(options, tasks)
    const bornMs = performance.now()
    registered = introduction.id
    const { name, num } = await connections.control.registerReplica(introduction)
    await connections.store.publishTasks(introduction.id, tasks)
    await limitKeys(connections.store, tasks)
    await publishOwnSchedules(connections.store, introduction.id, tasks)
    const threads = createFigures({ slots: config.threads, pulseBoard, nowMs: () => performance.now() })
    const drain = startWork({
      config,
      observe,
      tasks,
      introduction,
      num,
      workplaces,
      bornMs,
      threads,
      pulseBoard,
      control: connections.control,
      store: connections.store,
      turn: connections.turn,
      secondTurn: connections.secondTurn,
      databaseUrl,
      sessionUrl: options.directUrl ?? databaseUrl,
      closeAll,
    })
    return {
      replicaId: introduction.id,
      name,
      tasks,
      threads,
      left: drain.left,
      drain: async () => void (await drain.signal()),
    }
  } catch (error) {
    if (registered !== undefined) await retire(connections.control, registered)
    await closeAll()
    throw error
  }
}

/** After a failed start: the database, if it can be reached, keeps no living replica. */
async function retire(control: Store, replicaId: string): Promise<void> {
  const attempt = () => control.retireReplica(replicaId)
  // A second try uses a new connection: the first one may have broken with the others.
  await attempt()
    .catch(attempt)
    .catch(() => {})
}

function introduce(
  { config, version, replicaId = newReplicaId() }: RunnerOptions,
  tasks: readonly TaskDescription[],
): ReplicaIntroduction {
  return {
    id: replicaId,
    tasks: tasks.map((task) => task.name),
    capabilities: config.capabilities,
    name: config.name,
    ...thisHost(),
    version,
    queues: config.queues,
    slots: config.threads,
    preset: config.presetName,
    onCrash: config.preset.onCrash,
    thresholds: config.preset.thresholds,
    presenceGraceMs: config.presenceGraceMs,
  }
}
