/**
 * Starts the loops that bring runs into execution: exchanges fill slots, `promote` opens gates, `sweep` finds runs that
 * were missed, `schedule` enqueues due ticks.
 */
import type { Observe } from '../events.ts'
import type { Store } from '@q/store'
import type { ConnectedSignals } from '../signals.ts'
import { startExchanges, type Exchanges, type ExchangesDeps } from './exchanges.ts'
import { createPolling } from './polling.ts'
import { createPromoter } from './promote.ts'
import { scheduleTick } from './schedule.ts'
import { sweepTick } from './sweep.ts'
import type { FindRoute } from './task-routing.ts'

export interface IntakeDeps extends ExchangesDeps {
  readonly control: Store
  /** Finds the queue and options of runs that this replica enqueues. */
  readonly routeOf: FindRoute
  readonly signals: ConnectedSignals
  readonly observe: Observe
}

export interface Intake extends Pick<Exchanges, 'pause' | 'resume' | 'relieve' | 'forgetStarted'> {
  stop(): Promise<unknown>
}

export function startIntake(deps: IntakeDeps): Intake {
  const { store, control, replicaId, routeOf, observe, signals, startLoop, nowMs } = deps
  const exchanges = startExchanges(deps)
  const { runsReady } = exchanges
  const polling = createPolling(deps.config.pollEveryMs, deps.canBeWoken)
  const keys = createKeys()
  const promoter = createPromoter({
    store,
    polling,
    nowMs,
    takeKeys: keys.takeAll,
    onPromoted: runsReady,
    wake: () => promote.wake(),
  })
  const promote = startLoop('promote', promoter.tick)
  const sweep = startLoop('sweep', () => sweepTick({ store, onPromoted: runsReady }))
  const schedule = startLoop('schedule', () =>
    scheduleTick({ control, store, replicaId, routeOf, observe, onEnqueued: runsReady }),
  )
  signals.connect({
    wakeClaim: exchanges.wake,
    runsReady,
    lookEverywhere() {
      polling.found()
      exchanges.lookAgain()
      for (const loop of [promote, sweep, schedule]) loop.wake()
    },
    promoteKey(key) {
      keys.add(key)
      promote.wake()
    },
    dueIn: promoter.dueIn,
    wakeSchedules: () => schedule.wake(),
  })
  return {
    ...exchanges,
    stop: () => Promise.all([exchanges.stop(), promote.stop(), sweep.stop(), schedule.stop()]),
  }
}

/** Collects the concurrency keys that wakes name. */
function createKeys() {
  let keys = new Set<string>()
  return {
    add: (key: string) => void keys.add(key),
    takeAll() {
      const taken = [...keys]
      keys = new Set()
      return taken
    },
  }
}
