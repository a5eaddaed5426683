/**
 * Runs the exchange loops of a replica (exchange.ts): one, and a second one while many successes wait. They pause while
 * the replica drains. They claim less while it is unhealthy, and nothing while it is cut off.
 */
import type { ClaimedRun, Connection, Store } from '@q/store'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { ReleaseUnstarted } from '../execute/release.ts'
import type { HeldRuns } from '../liveness/held-runs.ts'
import { awaitingSlotMsMax } from '../liveness/self-fence-limits.ts'
import type { StartLoop } from '../loop.ts'
import type { RunnerConfig } from '../../settings/config.ts'
import { slotsToFill } from '../stats/health.ts'
import type { ExchangeMeter } from '../stats/exchange-meter.ts'
import type { ProcessStats } from '../stats/process-stats.ts'
import { createBacklog } from './backlog.ts'
import { exchangeTick, type ExchangeDeps } from './exchange.ts'
import type { ExchangeBuffer } from './exchange-buffer.ts'
import { createExchangeSender } from './exchange-sender.ts'
import { createIdleMark } from './idle-mark.ts'
import { createPolling } from './polling.ts'
import type { PrefetchBuffer } from './prefetch-buffer.ts'

export interface ExchangesDeps {
  readonly store: Store
  readonly exchange: Connection
  /** For a second exchange at the same time, while there is a backlog. */
  readonly secondExchange: Connection
  readonly replicaId: string
  /** Names of the tasks that this replica knows. */
  readonly tasks: readonly string[]
  /** Whether threads record spans. */
  readonly tracing: boolean
  readonly config: RunnerConfig
  readonly dispatch: Dispatch
  readonly exchangeBuffer: ExchangeBuffer
  readonly prefetched: PrefetchBuffer
  readonly heldRuns: HeldRuns
  readonly processStats: Pick<ProcessStats, 'health' | 'look'>
  readonly exchangeMeter: ExchangeMeter
  readonly releaseUnstarted: ReleaseUnstarted
  /** Whether wakes can reach this replica. */
  readonly canBeWoken: () => boolean
  readonly isCutOff: () => boolean
  readonly startLoop: StartLoop
  readonly nowMs: () => number
}

export interface Exchanges {
  wake(): void
  /** Runs became ready: known claim candidates are out of date. */
  runsReady(): void
  /** Wakes or the idle mark may have been lost: sets the mark again and asks for runs. */
  lookAgain(): void
  /** No run starts until `resume()`. Resolves when no exchange is in flight. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
  /** Takes waiting runs from threads that are busy for longer than expected; other threads get them, or they are released. */
  relieve(): void
  /**
   * Runs that are started and have not begun must not begin here, including those of exchanges in flight: other replicas
   * may have started them by now. reconcile.ts releases the others.
   */
  forgetStarted(): void
}

/** The second exchange runs when at least this many successes wait. */
const secondMin = 64

export function startExchanges(deps: ExchangesDeps): Exchanges {
  const { exchangeBuffer, dispatch, heldRuns, prefetched } = deps
  const sender = createExchangeSender(deps)
  const idleMark = createIdleMark(deps.store, deps.replicaId, deps.canBeWoken)
  const polling = createPolling(deps.config.pollEveryMs, deps.canBeWoken)
  const shared = { ...tickDeps(deps, sender.isPaused), idleMark, polling }
  const start = (name: string, connection: Connection, runsMin: number) =>
    deps.startLoop(name, () => {
      if (sender.isPaused()) forgetUnbegun()
      return exchangeTick({ ...shared, exchangeWork: sender.over(connection), runsMin })
    })
  const first = start('exchange', deps.exchange, 1)
  const second = start('second-exchange', deps.secondExchange, secondMin)

  function wake(): void {
    first.wake()
    if (exchangeBuffer.size() >= secondMin && sender.underWay() === 1) second.wake()
  }

  function runsReady(): void {
    sender.runsReady()
    wake()
  }

  function forgetStarted(): void {
    for (const run of [...exchangeBuffer.awaitingSlot.splice(0), ...dispatch.withdrawAll()]) heldRuns.ended(run)
  }

  /** The drain releases these runs. reconcile.ts releases the ones that are locked until then, because they are no longer held here. */
  function forgetUnbegun(): void {
    forgetStarted()
    for (const run of prefetched.takeAll()) heldRuns.ended(run)
  }

  return {
    wake,
    runsReady,
    lookAgain() {
      idleMark.invalidate()
      polling.found()
      runsReady()
    },
    forgetStarted() {
      sender.disown()
      forgetStarted()
    },
    relieve() {
      const relieved = dispatch.relieve()
      if (relieved.length === 0) return
      dispatch.assignSlots(relieved)
      void releaseRelieved(deps, relieved, sender.watchDisowned())
    },
    async pause() {
      await sender.pause()
      forgetUnbegun()
    },
    resume() {
      sender.resume()
      runsReady()
    },
    async stop() {
      exchangeBuffer.close()
      await Promise.all([first.stop(), second.stop()])
      forgetUnbegun()
    },
  }
}

/** Releases runs. A run that another transaction has locked stays, and may still begin here unless it was disowned in the meantime. */
async function releaseRelieved(
  { releaseUnstarted, exchangeBuffer, heldRuns }: ExchangesDeps,
  runs: readonly ClaimedRun[],
  areDisowned: () => boolean,
): Promise<void> {
  const gone = new Set(await releaseUnstarted(runs).catch(() => []))
  const kept = runs.filter(({ runId }) => !gone.has(runId))
  if (!areDisowned()) exchangeBuffer.awaitingSlot.push(...kept)
  else for (const run of kept) heldRuns.ended(run)
}

type SharedTickDeps = Omit<ExchangeDeps, 'exchangeWork' | 'runsMin' | 'idleMark' | 'polling'>

function tickDeps(deps: ExchangesDeps, isPaused: () => boolean): SharedTickDeps {
  const { config, dispatch, processStats, prefetched, isCutOff } = deps
  const isHealthy = () => !isPaused() && processStats.health() === 'healthy' && !isCutOff()
  return {
    exchangeBuffer: deps.exchangeBuffer,
    dispatch,
    backlog: createBacklog(deps.config),
    prefetched,
    heldRuns: deps.heldRuns,
    pollEveryMs: config.pollEveryMs,
    nowMs: deps.nowMs,
    slotsToFill() {
      if (isPaused() || isCutOff()) return 0
      if (processStats.health() !== 'healthy') processStats.look()
      return slotsToFill(processStats.health(), { total: dispatch.slots.total, free: dispatch.slots.free() })
    },
    mayStartAhead: isHealthy,
    prefetchMax: () => (isHealthy() ? prefetched.max : 0),
    isCutOff,
    awaitingSlotMsMax: awaitingSlotMsMax(config.preset.thresholds),
    releaseUnstarted: deps.releaseUnstarted,
  }
}
