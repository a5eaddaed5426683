/**
 * Records in the destination's state which entities of a series exist, so that the oldest are removed without reading
 * the whole file. Invariant: an entity is recorded before it is created, and stays recorded until it is removed. A sender
 * whose state is brief reads the file once for each series, because an earlier process may have written it.
 */
import type { SenderState } from '../sender.ts'
import type { KnowledgeGraph } from './graph.ts'
import type { Series, Write } from './writes.ts'

export interface Trimmed {
  /** The names of the entities to remove. */
  readonly excess: readonly string[]
  /** Drops the records of removed entities. */
  forget(): Promise<void>
}

/** Records the entities that the writes create. */
export async function rememberSeries(
  graph: Pick<KnowledgeGraph, 'search'>,
  state: SenderState,
  writes: readonly Write[],
): Promise<Trimmed> {
  const grown = Map.groupBy(writes.flatMap(seriesOf), ({ before }) => before)
  const written = await writtenEarlier(graph, state, grown.keys().toArray())
  const trims = await Promise.all(
    grown.entries().map(async ([before, members]) => {
      const known = [...(await readTimestamps(state, before)), ...(written.get(before) ?? [])]
      const all = [...new Set([...known, ...members.map(({ timestamp }) => timestamp)])].toSorted((a, b) => a - b)
      if (all.length > known.length) await state.put(before, JSON.stringify(all))
      return { before, all, kept: all.slice(-(members[0]?.keep ?? 0)) }
    }),
  )
  const excess = trims.filter(({ all, kept }) => kept.length < all.length)
  return {
    excess: excess.flatMap(({ before, all, kept }) =>
      all.slice(0, all.length - kept.length).map((timestamp) => `${before}${timestamp}`),
    ),
    async forget() {
      await Promise.all(excess.map(({ before, kept }) => state.put(before, JSON.stringify(kept))))
    },
  }
}

/** The timestamps of the entities in the file, by series, of those series that a brief state does not know. */
async function writtenEarlier(
  graph: Pick<KnowledgeGraph, 'search'>,
  state: SenderState,
  series: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const written = new Map<string, readonly number[]>()
  if (state.isBrief !== true) return written
  // One call after the other: calls must not overlap.
  for (const before of series) {
    if ((await state.get(before)) !== undefined) continue
    const entities = await graph.search(before)
    const names = entities.flatMap(({ name }) => (name.startsWith(before) ? [name.slice(before.length)] : []))
    written.set(before, names.map(Number).filter(Number.isSafeInteger))
  }
  return written
}

function seriesOf(write: Write): readonly Series[] {
  return write.kind === 'add' && write.series !== undefined ? [write.series] : []
}

/** The timestamps of a series' entities. */
export async function readTimestamps(state: SenderState, key: string): Promise<readonly number[]> {
  return JSON.parse((await state.get(key)) ?? '[]') as readonly number[]
}
