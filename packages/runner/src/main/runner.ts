/**
 * A replica: the composition root. The boot order is `startRunner`, read from top to bottom; the drain order is drain.ts.
 *
 * Law: the first heartbeat is accepted before the first claim (registering sends it), and beats stop last, after the
 * last run has settled.
 */
import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { connect, createStore, listen, type ClaimedRun, type Connection, type Store } from '@q/store'
import type { RunnerConfig } from '../config.ts'
import type { TaskDescription } from '../protocol.ts'
import { checkDescription, described } from './check-description.ts'
import { createDrain, type Drain } from './drain.ts'
import type { Observe } from './events.ts'
import { executeRun, type ExecuteDeps } from './execute.ts'
import { startLoop, type Loop, type Next } from './loop.ts'
import { claimTick } from './loops/claim.ts'
import { cleanupTick } from './loops/cleanup.ts'
import { heartbeatTick } from './loops/heartbeat.ts'
import { createListening } from './loops/listen.ts'
import { promoteTick } from './loops/promote.ts'
import { createPulseCarrier } from './loops/pulse.ts'
import { reapTick } from './loops/reap.ts'
import { sweepTick } from './loops/sweep.ts'
import { createPulseBoard, type PulseBoard } from './pulse-board.ts'
import { createSettlements } from './settle.ts'
import { createSlots } from './slots.ts'
import { startThreads, type ThreadPool } from './thread-pool.ts'
import { createTrust } from './trust.ts'
import { createVitals } from './vitals.ts'

export interface Runner {
  readonly replicaId: string
  readonly name: string
  readonly tasks: readonly TaskDescription[]
  /** Stops claiming, lets runs finish until the deadline, then leaves. Called again: the deadline is now. */
  drain(): Promise<void>
  /** Resolves when it has left, by whosoever's wish. */
  readonly left: Promise<void>
}

export interface RunnerOptions {
  readonly databaseUrl: string
  readonly config: RunnerConfig
  readonly version: string
  /** file: URLs. */
  readonly taskModules: readonly string[]
  readonly observe: Observe
}

export async function startRunner(given: RunnerOptions): Promise<Runner> {
  const options = { ...given, observe: harmless(given.observe) }
  const { config, taskModules } = options
  const pulseBoard = createPulseBoard(config.threads)
  const threads = startThreads(config.threads, { taskModules, pulse: pulseBoard.memory })
  const connections = openConnections(options)
  const closeAll = async () => {
    await threads.close()
    await connections.close()
  }
  try {
    const tasks = checkDescription(await described(threads))
    const replicaId = newReplicaId()
    const { name } = await register(options, connections.control, { replicaId, tasks })
    await connections.store.publishTasks(replicaId, tasks)
    const drain = work(options, { replicaId, tasks, threads, pulseBoard, ...connections, closeAll })
    return { replicaId, name, tasks, left: drain.left, drain: twice(drain) }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Asked again, it is to be now. */
function twice(drain: Drain): () => Promise<void> {
  let asked = false
  return () => {
    if (asked) drain.cutShort()
    asked = true
    return drain.begin()
  }
}

function register(
  { config, version }: RunnerOptions,
  control: Store,
  { replicaId, tasks }: Pick<Parts, 'replicaId' | 'tasks'>,
): Promise<{ name: string }> {
  return control.registerReplica({
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
  })
}

interface Parts {
  readonly replicaId: string
  readonly tasks: readonly TaskDescription[]
  readonly threads: ThreadPool
  readonly pulseBoard: PulseBoard
  readonly control: Store
  readonly store: Store
  readonly closeAll: () => Promise<void>
}

/** Starts the loops; what is returned ends them. */
function work({ config, databaseUrl, observe }: RunnerOptions, parts: Parts): Drain {
  const { replicaId, control, store, pulseBoard, threads } = parts
  const { pollEveryMs, queues, capabilities, drainMs } = config
  const { thresholds, onCrash } = config.preset
  const host = thisHost()
  const slots = createSlots(config.threads)
  const vitals = createVitals()
  const trust = createTrust(thresholds.replicaBeatMs)
  const settlements = createSettlements(store)
  const execution: ExecuteDeps = {
    store,
    settlements,
    slots,
    threads,
    pulseBoard,
    observe,
    host,
    onCrash,
    nowMs,
    count: vitals.count,
  }

  const heartbeat = loop('heartbeat', () =>
    heartbeatTick({
      store: control,
      slots,
      vitals,
      trust,
      nowMs,
      replicaId,
      beatEveryMs: thresholds.replicaBeatMs,
      onDrainAsked: () => void drain.begin(),
    }),
  )
  const pulses = createPulseCarrier({
    store: control,
    pulseBoard,
    sender: { replicaId, ...host },
    beatEveryMs: thresholds.runnerBeatMs,
    nowMs,
  })
  const pulse = loop('pulse', pulses.tick)
  const tasks = parts.tasks.map((task) => task.name)
  const claim = loop('claim', () =>
    claimTick({ store, slots, replicaId, tasks, queues, capabilities, pollEveryMs, begin }),
  )
  const promote = loop('promote', () => promoteTick({ store, pollEveryMs, onPromoted: claim.wake }))
  const reaper = loop('reap', () =>
    reapTick({
      store,
      replicaId,
      checkEveryMs: thresholds.checkEveryMs,
      trustMs: () => trust.goodForMs(nowMs()),
      observe,
      onRecovered: claim.wake,
    }),
  )
  const cleanup = loop('cleanup', () => cleanupTick({ store, heartbeatsKeptMs: config.preset.heartbeatsKeptMs }))
  const sweep = loop('sweep', () => sweepTick({ store, onPromoted: claim.wake }))
  const listening = createListening({
    openListener: (handlers) => listen(databaseUrl, 'q_ready', handlers),
    onWake: claim.wake,
    onLost(error) {
      observe({ type: 'listener-lost', error })
      listener.wake()
    },
  })
  const listener = loop('listen', listening.tick)

  const drain = createDrain({
    slots,
    pulseBoard,
    observe,
    nowMs,
    drainMs,
    intake: [claim, promote, listener, reaper, sweep, cleanup],
    beats: [pulse, heartbeat],
    announce: async () => void (await control.drainReplica(replicaId, { by: 'itself' })),
    stopListening: listening.close,
    retire: () => control.retireReplica(replicaId),
    closeAll: parts.closeAll,
  })
  return drain

  function begin(claimed: ClaimedRun, slot: number): void {
    void executeRun(execution, claimed, slot)
      .catch((error: unknown) => observe({ type: 'run-unfinished', error }))
      .then(claim.wake)
  }

  function loop(name: string, tick: () => Promise<Next>): Loop {
    return startLoop({
      tick,
      onError: (error, retryInMs) => observe({ type: 'loop-failed', loop: name, error, retryInMs }),
    })
  }
}

/** By class, so that a flood of runs cannot keep a heartbeat waiting. */
function openConnections({ databaseUrl, observe }: RunnerOptions): {
  control: Store
  store: Store
  close: () => Promise<void>
} {
  const open = (purpose: 'control' | 'pool'): Connection =>
    connect(databaseUrl, {
      purpose,
      onBroken: (error) => observe({ type: 'loop-failed', loop: purpose, error, retryInMs: 0 }),
    })
  const [control, pool] = [open('control'), open('pool')]
  return {
    control: createStore(control.db),
    store: createStore(pool.db),
    close: async () => void (await Promise.all([control.close(), pool.close()])),
  }
}

/** An observer that throws must not end what it observes. */
function harmless(observe: Observe): Observe {
  return (event) => {
    try {
      observe(event)
    } catch {
      // told, and may lose it
    }
  }
}

function nowMs(): number {
  return performance.now()
}

function thisHost(): { hostname: string; pid: number } {
  return { hostname: hostname(), pid: process.pid }
}

const idAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** New on every boot: a process that died and one that starts in its place are never mistaken for each other. */
function newReplicaId(): string {
  return Array.from({ length: 12 }, () => idAlphabet[randomInt(idAlphabet.length)]).join('')
}
