/**
 * A replica at work: what its loops share, the loops in the order they are started, and how they end.
 *
 * Two groups. Liveness shows others that this replica lives, stops what it must not go on with when it cannot, and sees
 * who else has died. Intake brings runs into execution. A drain ends intake first and beats last.
 */
import type { ClaimedRun, Connection, Lease, ReplicaIntroduction, RunId, Store } from '@q/store'
import type { RunnerConfig } from '../config.ts'
import type { TaskDescription } from '../protocol.ts'
import { createAhead } from './ahead.ts'
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts'
import { createDispatch, type Dispatch, type DispatchDeps } from './dispatch.ts'
import { createDrain, type Drain } from './drain.ts'
import type { Observe } from './events.ts'
import { executeRun, type ExecuteDeps } from './execute.ts'
import type { ThreadFigures } from './figures.ts'
import { beatIntervalMs, fenceBoundMs, presenceFenceMs } from './fence-bound.ts'
import { giveBackUnbegun } from './give-back.ts'
import { createHoldings } from './holdings.ts'
import { startIntake, type Intake } from './intake.ts'
import { startLiveness } from './liveness.ts'
import { optionsOf } from './known-tasks.ts'
import { startLoop, type Loop, type Next } from './loop.ts'
import { noEvidenceMsMax } from './loops/watch.ts'
import { createOwnPresence, type OwnPresence } from './presence.ts'
import type { PulseBoard } from './pulse-board.ts'
import { createPublished, type FindDestination } from './published.ts'
import { createRequests } from './requests.ts'
import { createSettlements } from './settle.ts'
import type { Slots } from './slots.ts'
import { createStartAhead } from './start-ahead.ts'
import { createStepInputs } from './step-inputs.ts'
import { createTaskLogs } from './task-logs.ts'
import { createTrust, type Trust } from './trust.ts'
import { createTurns, type Turns } from './turns.ts'
import { createVitals } from './vitals.ts'
import type { Workplaces } from './workplaces.ts'

export interface Parts {
  readonly config: RunnerConfig
  readonly observe: Observe
  readonly tasks: readonly TaskDescription[]
  readonly introduction: ReplicaIntroduction
  /** Of its presence lock. */
  readonly num: number
  /** When its introduction, which is its first beat, was sent. */
  readonly bornMs: number
  readonly workplaces: Workplaces
  /** What every slot is doing. */
  readonly threads: () => ThreadFigures[]
  readonly pulseBoard: PulseBoard
  readonly control: Store
  readonly store: Store
  readonly turn: Connection
  /** For a second exchange beside the first, while there is a backlog. */
  readonly secondTurn: Connection
  readonly databaseUrl: string
  readonly sessionUrl: string
  readonly closeAll: () => Promise<void>
}

/** What the loops share. */
export interface Desk extends Parts {
  readonly replicaId: string
  readonly slots: Slots
  readonly turns: Turns
  readonly dispatch: Dispatch
  readonly ahead: ReturnType<typeof createAhead>
  readonly holdings: ReturnType<typeof createHoldings>
  readonly vitals: ReturnType<typeof createVitals>
  readonly presence: OwnPresence
  /** Its heartbeats, as far as they were accepted. */
  readonly beats: Trust
  readonly databaseClock: DatabaseClock
  /** So long that its runs are stopped: it begins none either, until a beat is accepted. */
  readonly isCutOff: () => boolean
  /** Where runs go that this replica itself enqueues. */
  readonly findDestination: FindDestination
  readonly nowMs: () => number
  readonly loop: (name: string, tick: () => Promise<Next>) => Loop
  readonly giveBackUnstarted: () => Promise<void>
  /** Runs whose code never began; those that somebody has locked stay. Those that are not ours any more. */
  readonly giveBack: (runs: readonly Lease[]) => Promise<readonly RunId[]>
}

export function startWork(parts: Parts): Drain {
  const desk = setUp(parts, {
    execution: () => batchExecution,
    begin: (run, slot) => void execute(run, slot),
    onHandingOver: (slot, runs) => liveness.handingOver(slot, runs),
    wake: () => intake.claim.wake(),
  })
  const { control, replicaId, observe } = desk
  const intake = startIntake(desk)
  const liveness = startLiveness(desk, {
    wakeClaim: intake.lookAgain,
    lookEverywhere: intake.wakeAll,
    promoteKey: intake.promoteKey,
    dueIn: intake.dueIn,
    wakeSchedules: intake.wakeSchedules,
    onDrainOrder: (order) => drain.onOrder(order),
    onTooOld: () => drain.tooOld(),
    drainStanding: () => drain.standing(),
    relieveThreads: intake.relieve,
    forgetUnbegun: intake.forgetStarted,
  })
  const left = new AbortController()
  const execution = executionOf(desk, intake, () => drain.onDeadline(), left.signal)
  const batchExecution = { ...execution, threads: desk.workplaces.threads }
  const drain = createDrain({
    ...desk,
    drainMs: desk.config.drainMs,
    stopGraceMs: desk.config.stopGraceMs,
    pauseIntake: intake.pause,
    resumeIntake: intake.resume,
    announce: (deadlineMs) => control.announceLeaving(replicaId, { deadlineMs }),
    leaveIfOrdered: (finished) => control.leaveIfOrdered(replicaId, { finished }),
    stopIntake: intake.stop,
    stopWatching: liveness.stopWatching,
    // As the database knows them: the answer to a last turn may never have come.
    async giveBackUnbegun() {
      const unbegun = desk.holdings.unbegun(await control.heldTaskRuns(replicaId))
      return unbegun.length - (await desk.giveBack(unbegun)).length
    },
    stopBeats: liveness.stopBeats,
    retire: () => control.retireReplica(replicaId),
    closeSession: liveness.closeSession,
    closeAll() {
      left.abort(new Error('The replica has left.'))
      return desk.closeAll()
    },
  })
  return drain

  async function execute(run: ClaimedRun, slot: number): Promise<void> {
    desk.holdings.begun(run)
    desk.vitals.runBegan()
    const executed = executeRun(execution, run, slot)
    liveness.begun(run)
    await executed.catch((error: unknown) => observe({ type: 'run-unfinished', error }))
    desk.holdings.ended(run)
    desk.vitals.runEnded()
    // The end of a step has let others go, which nobody has seen yet.
    if (run.step) intake.lookAgain()
    else intake.claim.wake()
  }
}

/** What the dispatch needs of loops that are started later. */
type Later = Pick<DispatchDeps, 'execution' | 'begin' | 'onHandingOver' | 'wake'>

function setUp(parts: Parts, later: Later): Desk {
  const { config, observe, store } = parts
  const { thresholds } = config.preset
  const presence = createOwnPresence()
  const beats = createTrust(beatIntervalMs(thresholds), parts.bornMs)
  const ahead = createAhead(config.prefetch)
  const holdings = createHoldings()
  const replicaId = parts.introduction.id
  const vitals = createVitals(config)
  const turns = createTurns(later.wake)
  const { feeds } = parts.workplaces.threads
  const startAhead = createStartAhead({ ...config, optionsOf: optionsOf(parts.tasks) })
  const dispatch = createDispatch({
    feeds,
    pulseBoard: parts.pulseBoard,
    startAhead,
    holdings,
    turns,
    vitals,
    ...later,
  })
  parts.pulseBoard.openBefore(() => dispatch.openMonitors())
  const giveBack: Desk['giveBack'] = (runs) => giveBackUnbegun({ store, replicaId, holdings, observe }, runs)
  return {
    ...parts,
    replicaId,
    slots: dispatch.slots,
    turns,
    dispatch,
    ahead,
    holdings,
    vitals,
    presence,
    beats,
    databaseClock: createDatabaseClock(),
    isCutOff: () =>
      beats.silentForMs(nowMs()) > fenceBoundMs(thresholds) ||
      (presence.exposedForMs(nowMs()) ?? 0) > presenceFenceMs(config.presenceGraceMs),
    nowMs,
    findDestination: createPublished(store, nowMs),
    loop: (name, tick) =>
      startLoop({
        tick,
        onError: (error, retryInMs) => observe({ type: 'loop-failed', loop: name, error, retryInMs }),
      }),
    giveBack,
    async giveBackUnstarted() {
      const claimed = ahead.takeAll()
      const withdrawn = dispatch.withdrawAll()
      if (claimed.length + withdrawn.length === 0) return
      const keep = (gone: ReadonlySet<RunId>) => {
        const isKept = ({ runId }: ClaimedRun) => !gone.has(runId)
        ahead.putBack(claimed.filter(isKept))
        // They are started in the database: they wait for a thread, not for their start.
        turns.unplaced.push(...withdrawn.filter(isKept))
      }
      const gone = await giveBack([...claimed, ...withdrawn]).catch((error: unknown) => {
        keep(new Set())
        throw error
      })
      keep(new Set(gone))
    },
  }
}

function nowMs(): number {
  return performance.now()
}

function executionOf(
  desk: Desk,
  intake: Intake,
  onDeadline: ExecuteDeps['onDeadline'],
  hasLeft: AbortSignal,
): ExecuteDeps {
  const { store, observe, tasks, config, vitals } = desk
  const { hostname, pid } = desk.introduction
  return {
    ...desk,
    settlements: createSettlements(store, desk.turns),
    stepInputs: createStepInputs(store),
    requests: createRequests({
      store,
      observe,
      findDestination: desk.findDestination,
      onEnqueued: intake.lookAgain,
    }),
    logs: createTaskLogs(store, observe, hasLeft),
    hasLeft,
    host: { hostname, pid },
    optionsOf: optionsOf(tasks),
    limits: { ...config.preset, noEvidenceMs: noEvidenceMsMax(config.preset.thresholds) },
    stopGraceMs: config.stopGraceMs,
    onDeadline,
    count: vitals.count,
    dueIn: intake.dueIn,
  }
}
