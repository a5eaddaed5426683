/**
 * Starts a loop for each destination that is not paused, and ends it when the destination is paused, changed or
 * removed. A replica reads the destinations at start, when a wake says that they changed, and at long intervals in case
 * a wake was lost.
 */
import type { Destination, Store } from '@q/store'
import { after, type Loop, type Next, type StartLoop } from '../loop.ts'
import type { ConnectedSignals } from '../signals.ts'
import { createDestinationLoop, type DestinationLoop, type DestinationLoopDeps } from './destination-loop.ts'

export interface DestinationWatchDeps extends Omit<DestinationLoopDeps, 'inFlight' | 'wake'> {
  readonly store: DestinationLoopDeps['store'] & Pick<Store, 'readDestinations'>
  readonly startLoop: StartLoop
  /** Whether wakes can reach this replica. */
  readonly canBeWoken: () => boolean
}

export interface DeliveriesDeps extends DestinationWatchDeps {
  readonly signals: Pick<ConnectedSignals, 'connect'>
}

export interface DestinationWatch {
  tick(): Promise<Next>
  /** Ends the loops of all destinations. Call it after the last tick. */
  close(): Promise<void>
}

interface Active {
  /** Compared with the stored destination: a changed one needs a new sender. */
  readonly declared: string
  readonly loop: Loop
  readonly sending: DestinationLoop
}

/** A long interval while wakes can arrive, because one may be lost. */
const lookEveryMs = { woken: 300_000, unwoken: 30_000 } as const

export function startDeliveries(deps: DeliveriesDeps): { stop(): Promise<unknown> } {
  const watch = createDestinationWatch(deps)
  const loop = deps.startLoop('destinations', watch.tick)
  deps.signals.connect({ destinationsChanged: loop.wake })
  return {
    async stop() {
      await loop.stop()
      await watch.close()
    },
  }
}

export function createDestinationWatch(deps: DestinationWatchDeps): DestinationWatch {
  const active = new Map<string, Active>()
  const inFlight = { count: 0 }

  function start(destination: Destination, declared: string): void {
    let wake: () => void = () => {}
    const sending = createDestinationLoop({ ...deps, inFlight, wake: () => wake() }, destination)
    const loop = deps.startLoop(`deliver ${destination.name}`, sending.tick)
    wake = loop.wake
    active.set(destination.name, { declared, loop, sending })
  }

  async function end(name: string): Promise<void> {
    const ending = active.get(name)
    active.delete(name)
    await ending?.loop.stop()
    await ending?.sending.close()
  }

  return {
    async tick() {
      const found = await deps.store.readDestinations()
      const wanted = new Map(found.map((one) => [one.name, { one, text: declaredBy(one) }]))
      for (const [name, { declared }] of active) if (wanted.get(name)?.text !== declared) await end(name)
      for (const [name, { one, text }] of wanted) if (one.pausedAt === null && !active.has(name)) start(one, text)
      return after(deps.canBeWoken() ? lookEveryMs.woken : lookEveryMs.unwoken)
    },
    async close() {
      await Promise.all([...active.keys()].map(end))
    },
  }
}

function declaredBy({ kind, reports, settings, everyMs, pausedAt }: Destination): string {
  return JSON.stringify({ kind, reports, settings, everyMs, paused: pausedAt !== null })
}
