/**
 * Sends exchanges to the database. When the replica pauses or is cut off, it disowns the runs of exchanges in flight: the
 * database may start them for this replica, but they must not begin here.
 */
import { createClaimer, createFairShares, exchangeWork, type Connection } from '@q/store'
import type { RunnerConfig } from '../../settings/config.ts'
import type { ExchangeMeter } from '../stats/exchange-meter.ts'
import type { ExchangeDeps } from './exchange.ts'

export interface ExchangeSender {
  over(connection: Connection): ExchangeDeps['exchangeWork']
  /** The number of exchanges whose response or look is outstanding. */
  underWay(): number
  /** Runs became ready: the next exchange asks for them. */
  runsReady(): void
  /** Runs that exchanges in flight return must not begin here. */
  disown(): void
  /** Returns a function that reports whether runs were disowned since this call. */
  watchDisowned(): () => boolean
  isPaused(): boolean
  /** Disowns, and resolves when no exchange is in flight. */
  pause(): Promise<void>
  resume(): void
}

export interface ExchangeSenderDeps {
  readonly replicaId: string
  readonly tasks: readonly string[]
  /** Whether threads record spans. */
  readonly tracing: boolean
  readonly config: Pick<RunnerConfig, 'pollEveryMs' | 'queues' | 'queueWeights' | 'capabilities'>
  readonly exchangeMeter: ExchangeMeter
  readonly nowMs: () => number
}

export function createExchangeSender(deps: ExchangeSenderDeps): ExchangeSender {
  const { replicaId, tasks, tracing: traces, config, exchangeMeter, nowMs } = deps
  const { pollEveryMs, queues, queueWeights, capabilities } = config
  const claimer = createClaimer({
    replicaId,
    tasks,
    queues,
    queueWeights,
    capabilities,
    traces,
    shares: createFairShares(),
  })
  /** Exchanges without a response: the database may start runs for them. */
  const inFlight = new Set<Promise<unknown>>()
  let underWay = 0
  let paused = false
  /** Raised whenever runs are disowned. */
  let generation = 0
  let refreshedMs = Number.NEGATIVE_INFINITY

  function watchDisowned(): () => boolean {
    const before = generation
    return () => generation !== before
  }

  return {
    over: (connection) => async (exchange) => {
      if (nowMs() - refreshedMs >= pollEveryMs) {
        claimer.expire()
        refreshedMs = nowMs()
      }
      const areDisowned = watchDisowned()
      const sentMs = nowMs()
      const exchanged = exchangeWork(connection, claimer, exchange)
      const done = exchanged.catch(() => {}).finally(() => inFlight.delete(done))
      inFlight.add(done)
      underWay++
      void exchanged
        .then(({ more }) => more)
        .catch(() => {})
        .finally(() => underWay--)
      const result = await exchanged
      exchangeMeter.exchanged(nowMs() - sentMs, result.claimed.length + result.prefetched.length)
      return areDisowned() ? { ...result, started: [], claimed: [], prefetched: [] } : result
    },
    underWay: () => underWay,
    runsReady: () => claimer.runsReady(),
    disown: () => void generation++,
    watchDisowned,
    isPaused: () => paused,
    async pause() {
      paused = true
      generation++
      await Promise.all(inFlight)
    },
    resume: () => void (paused = false),
  }
}
