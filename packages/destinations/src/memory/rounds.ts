/** Reports in rounds that the server can take: it closes the connection at a message over 10 MiB. Pure. */
import type { Write } from './writes.ts'

export interface Sized {
  readonly writes: readonly Write[]
}

const entitiesMax = 500
export const bytesMax: number = 1024 * 1024

/** Consecutive items together, as long as their writes fit. An item that does not fit by itself gets a round of its own. */
export function inRounds<T extends Sized>(items: readonly T[]): readonly (readonly T[])[] {
  const rounds: T[][] = []
  let room = { keys: new Set<string>(), bytes: 0 }
  for (const item of items) {
    const keys = new Set([...room.keys, ...item.writes.map(({ key }) => key)])
    const bytes = room.bytes + bytesOf(item.writes)
    const round = rounds.at(-1)
    if (round !== undefined && keys.size <= entitiesMax && bytes <= bytesMax) {
      round.push(item)
      room = { keys, bytes }
    } else {
      rounds.push([item])
      room = { keys: new Set(item.writes.map(({ key }) => key)), bytes: bytesOf(item.writes) }
    }
  }
  return rounds
}

/** In a message to the server, where the text of a value is quoted again. */
export function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + Buffer.byteLength(JSON.stringify(write)), 0)
}
