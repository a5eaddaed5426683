/** Fills free slots. A freed slot, a wake and the poll all bring it back; it never claims what cannot start now. */
import type { ClaimedRun, Store } from '@q/store'
import { after, atOnce, whenWoken, type Next } from '../loop.ts'
import type { Slots } from '../slots.ts'

export interface ClaimDeps {
  readonly store: Store
  readonly slots: Slots
  readonly replicaId: string
  readonly tasks: readonly string[]
  readonly queues: readonly string[]
  readonly capabilities: readonly string[]
  readonly pollEveryMs: number
  /** Starts the run and returns; the slot is given back when it has ended. */
  readonly begin: (claimed: ClaimedRun, slot: number) => void
}

export async function claimTick(deps: ClaimDeps): Promise<Next> {
  const limit = deps.slots.free()
  if (limit === 0) return whenWoken
  const claimed = await deps.store.claimAvailableTaskRuns({
    replicaId: deps.replicaId,
    tasks: deps.tasks,
    queues: deps.queues,
    capabilities: deps.capabilities,
    limit,
  })
  for (const run of claimed) deps.begin(run, deps.slots.take())
  if (claimed.length === 0) return after(deps.pollEveryMs)
  return claimed.length < limit ? after(deps.pollEveryMs) : atOnce
}
