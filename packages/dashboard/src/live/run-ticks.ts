/** The last light news of each run that is on screen: a row reads its own, so that one tick renders one row. */
import { useEffect, useSyncExternalStore } from 'react'
import type { RunTick } from '../api/run-contract.ts'
import { wantTopic } from './live.ts'

const ticks = new Map<string, RunTick>()
const listeners = new Set<() => void>()
const ticksMax = 2_000

export function keepTick(tick: RunTick): void {
  ticks.delete(tick.id)
  ticks.set(tick.id, tick)
  const [oldest] = ticks.keys()
  if (ticks.size > ticksMax && oldest !== undefined) ticks.delete(oldest)
  for (const listener of listeners) listener()
}

/** Wants the ticks of a run while the component is mounted. `wanted: false` only reads. */
export function useRunTick(id: string, wanted = true): RunTick | undefined {
  useEffect(() => (wanted ? wantTopic(`run:${id}`) : undefined), [id, wanted])
  return useSyncExternalStore(subscribe, () => ticks.get(id))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
