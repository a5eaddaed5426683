/** Opens the sender of a destination, with the state that it shares with the senders of other replicas. */
import type { Destination, Store } from '@q/store'
import type { Observe } from '../events.ts'
import { loadDestinations, type DestinationKind, type Sender } from './load-destinations.ts'

export interface SenderDeps {
  readonly store: Pick<Store, 'getDestinationState' | 'setDestinationState' | 'getSharedState' | 'replaceSharedState'>
  readonly observe: Observe
  /** The value of an environment variable, for secrets. */
  readonly env: (variable: string) => string | undefined
  /** Whether the state is lost with this process. */
  readonly isStateBrief?: boolean
}

export interface OpenSender extends Sender {
  readonly kind: DestinationKind
}

export async function openSender(
  deps: SenderDeps,
  { name, kind, settings }: Pick<Destination, 'name' | 'kind' | 'settings'>,
): Promise<OpenSender> {
  const { store, observe, env, isStateBrief = false } = deps
  const { destinationKinds } = await loadDestinations()
  const found = Object.hasOwn(destinationKinds, kind) ? destinationKinds[kind] : undefined
  if (found === undefined) throw new Error(`This release does not know the kind ${kind}.`)
  const state = (key: string) => ({ destination: name, key })
  const sender = await found.open({
    name,
    settings,
    env,
    // The wall clock, because receivers compare the time with their own.
    nowMs: () => Date.now(),
    state: {
      get: (key) => store.getDestinationState(state(key)),
      put: (key, value) => store.setDestinationState(state(key), value),
      remove: (key) => store.setDestinationState(state(key), undefined),
      shared: { get: store.getSharedState, replace: store.replaceSharedState },
      isBrief: isStateBrief,
    },
    log: (level, facts, line) => observe({ type: 'destination-log', destination: name, level, line, facts }),
  })
  return { ...sender, kind: found }
}
