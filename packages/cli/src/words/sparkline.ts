/** Numbers as a line of small bars, the latest at the right. Pure. */
import type { Look } from '../frame/terminal.ts'

const bars = '▁▂▃▄▅▆▇█'
const asciiBars = '_.-=+*%#'

export interface SparklineOptions {
  readonly width?: number
  /** The number of a full bar; without it, the greatest of the values. */
  readonly full?: number
}

/** Draws at most `width` bars: neighbours are merged into their maximum, so a peak is never hidden. */
export function sparkline(
  look: Pick<Look, 'ascii'>,
  values: readonly (number | null)[],
  { width = 30, full = 0 }: SparklineOptions = {},
): string {
  const joined = joinedTo(values, width)
  const most = Math.max(full, ...joined.filter((value) => value !== null))
  const glyphs = look.ascii ? asciiBars : bars
  return joined
    .map((value) =>
      value === null ? ' ' : (glyphs[most === 0 ? 0 : Math.round((value / most) * (glyphs.length - 1))] ?? ' '),
    )
    .join('')
}

function joinedTo(values: readonly (number | null)[], width: number): readonly (number | null)[] {
  if (values.length <= width) return values
  const size = values.length / width
  return Array.from({ length: width }, (_, index) => {
    const present = values
      .slice(Math.floor(index * size), Math.floor((index + 1) * size))
      .filter((value) => value !== null)
    return present.length === 0 ? null : Math.max(...present)
  })
}
