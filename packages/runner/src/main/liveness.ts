/**
 * The loops by which this replica is known to be alive, and knows who is not: beats, session, fence; and for all
 * replicas, one at a time, presence, stale runs, samples, old rows.
 */
import { deputyOf, openReplicaSession, type DrainOrder, type Lease, type StandingDrain, type Wake } from '@q/store'
import { chores } from './chores.ts'
import { createClockWatch } from './clock-watch.ts'
import {
  beatIntervalMs,
  fenceBoundMs,
  fenceTickMs,
  presenceFenceMs,
  runBeatIntervalMs,
  runFenceBoundMs,
} from './fence-bound.ts'
import type { Loop } from './loop.ts'
import { createChore } from './loops/chore.ts'
import { claimerTick } from './loops/claimer.ts'
import { extendBatch, extendDeadline, fenceTick, type FenceDeps } from './loops/fence.ts'
import { createHeartbeat } from './loops/heartbeat.ts'
import { createPresenceWatch, presenceTickMs } from './loops/presence.ts'
import { createPulseCarrier } from './loops/pulse.ts'
import { dutyOf, reapGone, reapTick, type ReapDeps } from './loops/reap.ts'
import { createSession } from './loops/session.ts'
import { noEvidenceMsMax, watchTick } from './loops/watch.ts'
import type { Pulse } from './pulse-board.ts'
import { reconcile } from './reconcile.ts'
import { mayStartElsewhere as isStartable } from './run-order.ts'
import { createTrust } from './trust.ts'
import type { Desk } from './work.ts'

export interface Ways {
  readonly wakeClaim: () => void
  /** Hints may have been lost. */
  readonly lookEverywhere: () => void
  readonly promoteKey: (key: string) => void
  readonly dueIn: (inMs: number) => void
  readonly wakeSchedules: () => void
  /** Null: no drain is ordered. */
  readonly onDrainOrder: (order: DrainOrder | null) => void
  readonly onTooOld: () => void
  /** The drain that this replica follows. */
  readonly drainStanding: () => StandingDrain | undefined
  /** Of runs behind one that takes longer than expected. */
  readonly relieveThreads: () => void
  /** It is cut off: no run that was started and has not begun may begin. */
  readonly forgetUnbegun: () => void
}

export interface Liveness {
  /** It is in execution from now on. */
  begun(lease: Lease): void
  /** Runs are about to be handed to the thread of a slot. */
  handingOver(slot: number, runs: readonly Lease[]): void
  /** What is done for others. */
  stopWatching(): Promise<unknown>
  stopBeats(): Promise<unknown>
  closeSession(): void
}

export function startLiveness(desk: Desk, ways: Ways): Liveness {
  const { control, store, replicaId, config, observe, nowMs, pulseBoard, holdings, introduction, presence, beats } =
    desk
  const { thresholds } = config.preset
  const { hostname, pid } = introduction
  const sender = { replicaId, hostname, pid }
  const presenceTrust = createTrust(3 * presenceTickMs)
  let num = desk.num
  let health = desk.vitals.health()

  // ---- known to be alive
  const session = createSession({
    open: (handlers) => openReplicaSession(desk.sessionUrl, { id: replicaId, num }, handlers),
    presence,
    nowMs,
    observe,
    onWake: obey,
    onOpen() {
      heartbeat.wake()
      lookForWishes()
      ways.lookEverywhere()
    },
    onLost() {
      presenceTrust.beatFailed() // also if it has another session when the watch hears the database again
      heartbeat.wake()
      sessionLoop.wake()
    },
    onExposed: () => heartbeat.wake(),
  })
  const heart = createHeartbeat({
    ...desk,
    trust: beats,
    beatEveryMs: beatIntervalMs(thresholds),
    onDrainOrder: ways.onDrainOrder,
    onTooOld: ways.onTooOld,
    introduceAgain,
    onWithdrawing: session.withdrawing,
    reconcile: () => reconcile({ control, holdings, pulseBoard, sender, observe, onReleased: ways.wakeClaim }),
    onJudged,
    onBack: ways.wakeClaim,
  })
  const pulses = createPulseCarrier({
    store: control,
    pulseBoard,
    sender,
    beatEveryMs: runBeatIntervalMs(thresholds),
    nowMs,
    askedMs: holdings.askedMs,
    openMonitors: desk.dispatch.openMonitors,
  })
  const heartbeat = desk.loop('heartbeat', heart.tick)
  const sessionLoop = desk.loop('session', session.tick)
  const pulse = desk.loop('pulse', pulses.tick)
  const claimer = desk.loop('claimer', () =>
    claimerTick({ control, ahead: desk.ahead, holdings, sender, beatEveryMs: thresholds.claimerBeatMs }),
  )
  const watch = desk.loop('watch', () =>
    watchTick({
      pulseBoard,
      nowMs,
      noEvidenceMsMax: noEvidenceMsMax(thresholds),
      onStopped: pulse.wake,
      relieveThreads: ways.relieveThreads,
    }),
  )
  const clock = createClockWatch(fenceTickMs)
  const fenceDeps: FenceDeps = {
    clock,
    beats,
    presenceTrust,
    presence,
    boundMs: fenceBoundMs(thresholds),
    presenceBoundMs: presenceFenceMs(config.presenceGraceMs),
    runBeats: pulses,
    runBoundMs: runFenceBoundMs(thresholds),
    pulseBoard,
    mayStartElsewhere,
    nowMs,
    wallMs: Date.now,
    observe,
    onJump() {
      heartbeat.wake()
      pulse.wake()
      sessionLoop.wake()
    },
    batches: desk.dispatch.batches,
    withdrawUnbegun: ways.forgetUnbegun,
  }
  const fence = desk.loop('fence', () => fenceTick(fenceDeps))

  // ---- knows who is not
  const reapDeps: ReapDeps = {
    control,
    store,
    replicaId,
    checkEveryMs: thresholds.checkEveryMs,
    states: [
      ...(config.autoRequeueStaleClaimed ? (['CLAIMED'] as const) : []),
      ...(config.autoFailStaleRunning ? (['RUNNING'] as const) : []),
    ],
    trustMs: () => beats.goodForMs(nowMs()),
    sharedMsMax: () => desk.databaseClock.sinceStepMs(nowMs()),
    clockMsMin: () => desk.databaseClock.earliestMs(nowMs()),
    clockMsMax: () => desk.databaseClock.latestMs(nowMs()),
    trustedMs: thresholds.replicaStaleMs,
    observe,
    onRecovered: ways.wakeClaim,
  }
  const watchDuty = dutyOf('presence', reapDeps.states)
  const duties = [watchDuty, deputyOf(watchDuty), dutyOf('reap', reapDeps.states)]
  const presenceWatch = createPresenceWatch({
    control,
    replicaId,
    duty: watchDuty,
    presence,
    trust: presenceTrust,
    nowMs,
    onSelfGone: () => session.fail(new Error('The presence lock is gone, though the session seemed to be good.')),
    reap: (overdue) => reapGone(reapDeps, overdue),
  })
  const watching: Loop[] = [
    desk.loop('presence', presenceWatch.tick),
    desk.loop('reap', () => reapTick(reapDeps)),
    ...chores(store, config, desk.observe).map((chore) => desk.loop(chore.name, createChore(desk, chore).tick)),
  ]

  return {
    begun(lease) {
      for (const running of pulseBoard.all())
        if (running.lease.runId === lease.runId) extendDeadline(fenceDeps, running)
      if (pulses.mayBeWanted(lease)) pulse.wake()
    },
    handingOver(slot, runs) {
      const batch = desk.dispatch.batches().find((one) => one.slot === slot)
      if (batch !== undefined) extendBatch(fenceDeps, batch)
      if (runs[0] !== undefined && pulses.mayBeWanted(runs[0])) pulse.wake()
    },
    async stopWatching() {
      await Promise.all(watching.map((loop) => loop.stop()))
      await Promise.all(duties.map((name) => control.leaveDuty({ name, holder: replicaId })))
    },
    stopBeats: () => Promise.all([watch, fence, claimer, pulse, sessionLoop, heartbeat].map((loop) => loop.stop())),
    closeSession: session.close,
  }

  function obey(wake: Wake): void {
    switch (wake.channel) {
      case 'q_ready':
        return ways.wakeClaim()
      case 'q_gated':
        return ways.promoteKey(wake.key)
      case 'q_due':
        return ways.dueIn(wake.inMs)
      case 'q_cancel':
        return wake.replicaId === replicaId ? lookForWishes() : undefined
      case 'q_drain':
        return wake.replicaId === replicaId ? heartbeat.wake() : undefined
      case 'q_schedule':
        return ways.wakeSchedules()
      case 'q_ended':
        return undefined
    }
  }

  function lookForWishes(): void {
    pulses.wished()
    pulse.wake()
  }

  /** Once it is taken for dead: the run itself, or the next one of its concurrency key. */
  function mayStartElsewhere(running: Pulse): boolean {
    const run = holdings.find(running.lease)
    return run !== undefined && isStartable(run)
  }

  async function introduceAgain(): Promise<void> {
    const draining = ways.drainStanding()
    const registered = await control.registerReplica({ ...introduction, ...(draining && { draining }) })
    observe({ type: 'introduced-again', name: registered.name })
    ways.lookEverywhere() // its idle mark was removed with its row
    if (registered.num === num) return
    num = registered.num
    session.renew()
    sessionLoop.wake()
  }

  function onJudged(): void {
    const { health: now, cpuPercent, memoryMb } = desk.vitals.read()
    // With every beat: a claim may have been under way, or the database away. They are beaten for meanwhile.
    if (now === 'unhealthy') void desk.giveBackUnstarted().catch(() => {})
    if (now === health) return
    health = now
    observe({ type: 'health-changed', health, cpuPercent, memoryMb })
    ways.wakeClaim()
  }
}
