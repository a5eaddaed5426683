/** The scales of a chart: where a value is drawn and which lines are labelled. Pure. */
export interface Scale {
  readonly ticks: readonly number[]
  /** 0 at the bottom, 1 at the top. */
  readonly place: (value: number) => number
}

/** From 0 to the next round number above every value, and at least to `least`; `whole`: its half is a whole number. */
export function linearScale(values: readonly number[], least = 0, whole = false): Scale {
  const above = roundAbove(Math.max(least, ...values))
  const top = whole ? Math.ceil(above / 2) * 2 : above
  return { ticks: [0, top / 2, top], place: (value) => Math.max(0, value) / top }
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const durations = [1, 10, 100, second, 10 * second, minute, 10 * minute, hour, 10 * hour, day, 10 * day, 100 * day]

/** Milliseconds to days, on a logarithmic scale with lines at lengths that people know. */
export function durationScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  const [low, high] = [Math.min(...positive, durations.at(-1) ?? 1), Math.max(...positive, 1)]
  const from = durations.findLast((tick) => tick <= low) ?? 1
  const to = durations.find((tick) => tick >= high && tick > from) ?? high
  const ticks = durations.filter((tick) => tick >= from && tick <= to)
  const [bottom, top] = [Math.log(from), Math.log(to)]
  return { ticks, place: (value) => Math.max(0, (Math.log(Math.max(value, from)) - bottom) / (top - bottom)) }
}

function roundAbove(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((top) => top >= value * 1.02) ?? unit * 20
}

/** The path of a line; a value that was not recorded interrupts it. */
export function linePath(points: readonly (readonly [x: number, y: number] | null)[]): string {
  let path = ''
  let isPenDown = false
  for (const point of points) {
    if (point !== null) path += `${isPenDown ? 'L' : 'M'}${point[0].toFixed(1)} ${point[1].toFixed(1)}`
    isPenDown = point !== null
  }
  return path
}
