/**
 * Plans the calls that apply the writes of a round. Pure. A write that was applied before changes nothing, so a round
 * can be repeated after a failure at any point.
 */
import type { Entity, Observations } from './graph.ts'
import { newestValues, timestampOf } from './observations.ts'
import type { Write } from './writes.ts'

export interface Plan {
  readonly create: readonly Entity[]
  readonly add: readonly Observations[]
  readonly removeObservations: readonly Observations[]
  readonly remove: readonly string[]
}

export function planRound(found: readonly Entity[], writes: readonly Write[]): Plan {
  const before = new Map(found.map(({ name, observations }) => [name, new Set(observations)]))
  const after = contentAfter(before, writes)
  const types = new Map(
    writes.flatMap((write) => (write.kind === 'add' ? [[write.key, write.entityType] as const] : [])),
  )
  const plan = { create: [] as Entity[], add: [] as Observations[], removeObservations: [] as Observations[] }
  for (const [name, content] of after) {
    const old = before.get(name)
    if (old === undefined) {
      plan.create.push({ name, entityType: types.get(name) ?? '', observations: [...content] })
    } else {
      const added = content.difference(old)
      const removed = old.difference(content)
      if (added.size > 0) plan.add.push({ name, observations: [...added] })
      if (removed.size > 0) plan.removeObservations.push({ name, observations: [...removed] })
    }
  }
  return { ...plan, remove: Array.from(before.keys()).filter((name) => !after.has(name)) }
}

type Content = ReadonlyMap<string, ReadonlySet<string>>

/** The observations of each entity after all writes, applied in order. */
function contentAfter(before: Content, writes: readonly Write[]): Content {
  const after = new Map(before.entries().map(([name, texts]) => [name, new Set(texts)]))
  const keep = new Map<string, number>()
  for (const write of writes) {
    if (write.kind === 'add') {
      after.set(write.key, (after.get(write.key) ?? new Set<string>()).add(write.text))
      keep.set(write.key, write.keep)
    } else if (!hasNewer(after.get(write.key), write.until)) {
      after.delete(write.key)
    }
  }
  return new Map(
    after.entries().map(([name, texts]) => [name, newestValues(texts, keep.get(name) ?? Number.POSITIVE_INFINITY)]),
  )
}

function hasNewer(texts: ReadonlySet<string> | undefined, until: number): boolean {
  return texts?.values().some((text) => (timestampOf(text) ?? 0) > until) ?? false
}
