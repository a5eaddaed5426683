/** Divides reports into rounds that the server accepts: it closes the connection at a message over 10 MiB. Pure. */
import type { Write } from './writes.ts'

const entitiesMax = 500
export const bytesMax: number = 1024 * 1024

/**
 * Combines the writes of consecutive reports as long as they fit. A report that does not fit alone gets a round of its
 * own.
 */
export function inRounds(reports: readonly (readonly Write[])[]): readonly (readonly (readonly Write[])[])[] {
  const rounds: (readonly Write[])[][] = []
  let keys = new Set<string>()
  let bytes = 0
  for (const writes of reports) {
    const own = new Set(writes.map(({ key }) => key))
    const round = rounds.at(-1)
    if (round !== undefined && keys.union(own).size <= entitiesMax && bytes + bytesOf(writes) <= bytesMax) {
      round.push(writes)
      keys = keys.union(own)
      bytes += bytesOf(writes)
    } else {
      rounds.push([writes])
      keys = own
      bytes = bytesOf(writes)
    }
  }
  return rounds
}

/** The size in a message to the server, where the text of a value is quoted again. */
export function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + Buffer.byteLength(JSON.stringify(write)), 0)
}
