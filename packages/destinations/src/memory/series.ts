/**
 * Records in the destination's state which entities of a series exist, so that the oldest are removed without reading
 * the whole file. Invariant: an entity is recorded before it is created, and stays recorded until it is removed.
 */
import type { SenderState } from '../sender.ts'
import type { Series, Write } from './writes.ts'

export interface Trimmed {
  /** The names of the entities to remove. */
  readonly excess: readonly string[]
  /** Drops the records of removed entities. */
  forget(): Promise<void>
}

/** Records the entities that the writes create. */
export async function rememberSeries(state: SenderState, writes: readonly Write[]): Promise<Trimmed> {
  const grown = Map.groupBy(writes.flatMap(seriesOf), ({ before }) => before)
  const trims = await Promise.all(
    grown.entries().map(async ([before, members]) => {
      const known = await readTimestamps(state, before)
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

function seriesOf(write: Write): readonly Series[] {
  return write.kind === 'add' && write.series !== undefined ? [write.series] : []
}

/** The timestamps of a series' entities. */
export async function readTimestamps(state: SenderState, key: string): Promise<readonly number[]> {
  return JSON.parse((await state.get(key)) ?? '[]') as readonly number[]
}
