/**
 * Removes all entities of workers that have not reported for a week; otherwise workers with ever new names would make
 * the file grow without limit. The destination's state records the hour in which each worker last reported.
 */
import type { SenderState } from '../sender.ts'
import type { Keys } from './keys.ts'
import { readTimestamps, type Trimmed } from './series.ts'
import type { Write } from './writes.ts'

const stateKey = 'workers'
const keptMs = 7 * 24 * 3_600_000
const precisionMs = 3_600_000

export async function trimWorkers(
  state: SenderState,
  keys: Keys,
  writes: readonly Write[],
  nowMs: number,
): Promise<Trimmed> {
  const reporting = new Set(writes.flatMap((write) => (write.kind === 'add' ? (write.worker ?? []) : [])))
  if (reporting.size === 0) return { excess: [], forget: () => Promise.resolve() }
  const before = new Map(JSON.parse((await state.get(stateKey)) ?? '[]') as [worker: string, seenMs: number][])
  const isCurrent = reporting.values().every((worker) => nowMs - (before.get(worker) ?? 0) < precisionMs)
  const seen = new Map([...before, ...reporting.values().map((worker) => [worker, nowMs] as const)])
  const old = [...seen].flatMap(([worker, seenMs]) => (nowMs - seenMs > keptMs ? worker : []))
  if (!isCurrent) await state.put(stateKey, JSON.stringify([...seen]))
  const excess = await Promise.all(
    old.map(async (worker) => [
      keys.heartbeat(worker),
      keys.failures(worker),
      ...(await readTimestamps(state, keys.samples(worker))).map((timestamp) => `${keys.samples(worker)}${timestamp}`),
    ]),
  )
  return {
    excess: excess.flat(),
    async forget() {
      if (old.length === 0) return
      await Promise.all(old.map((worker) => state.remove(keys.samples(worker))))
      await state.put(stateKey, JSON.stringify([...seen].filter(([worker]) => !old.includes(worker))))
    },
  }
}
