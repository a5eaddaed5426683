/**
 * Writes a round: reads the affected entities, adds new values, then removes old ones. A reader never finds a key
 * without a value, and a round that failed halfway can be repeated.
 */
import type { SenderState } from '../sender.ts'
import type { KnowledgeGraph } from './graph.ts'
import type { Keys } from './keys.ts'
import { trimWorkers } from './old-workers.ts'
import { planRound } from './plan.ts'
import { rememberSeries } from './series.ts'
import type { Write } from './writes.ts'

export interface RoundDeps {
  readonly graph: KnowledgeGraph
  readonly state: SenderState
  readonly keys: Keys
  readonly nowMs: () => number
}

export async function writeRound({ graph, state, keys, nowMs }: RoundDeps, writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return
  const trims = [await rememberSeries(graph, state, writes), await trimWorkers(state, keys, writes, nowMs())]
  const plan = planRound(await graph.open([...new Set(writes.map(({ key }) => key))]), writes)
  if (plan.create.length > 0) await graph.create(plan.create)
  if (plan.add.length > 0) await graph.add(plan.add)
  if (plan.removeObservations.length > 0) await graph.removeObservations(plan.removeObservations)
  const remove = [...plan.remove, ...trims.flatMap(({ excess }) => excess)]
  if (remove.length > 0) await graph.remove(remove)
  for (const { forget } of trims) await forget()
}
