/** A figure over time, as an SVG that is readable on light and dark pages. */
import { chartStyle, escaped } from './bar-chart.ts'
import { digits } from './numbers.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface LineChart {
  readonly title: string
  readonly points: readonly Point[]
  /** Drawn as a vertical line, with its name. */
  readonly border?: { readonly x: number; readonly label: string }
}

const width = 760
const height = 240
const left = 70
const right = 20
const top = 40
const bottom = 34

export function lineChart({ title, points, border }: LineChart): string {
  const xMax = Math.max(...points.map(({ x }) => x), Number.MIN_VALUE)
  const yMax = Math.max(...points.map(({ y }) => y), Number.MIN_VALUE) * 1.05
  const xAt = (x: number) => (left + (x / xMax) * (width - left - right)).toFixed(1)
  const yAt = (y: number) => (height - bottom - (y / yMax) * (height - top - bottom)).toFixed(1)
  const line = points.map(({ x, y }) => `${xAt(x)},${yAt(y)}`).join(' ')
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    chartStyle,
    `<text x="10" y="22" class="title">${escaped(title)}</text>`,
    `<path d="M${left} ${top}V${height - bottom}H${width - right}"/>`,
    ...[0, 0.5, 1].map(
      (share) =>
        `<text x="${left - 8}" y="${Number(yAt(yMax * share)) + 4}" text-anchor="end">${digits(yMax * share)}</text>`,
    ),
    ...[0, 0.5, 1].map(
      (share) =>
        `<text x="${xAt(xMax * share)}" y="${height - 12}" text-anchor="middle">${digits((xMax * share) / 60)} min</text>`,
    ),
    `<polyline points="${line}" class="line"/>`,
    ...(border === undefined
      ? []
      : [
          `<path d="M${xAt(border.x)} ${top}V${height - bottom}" stroke-dasharray="4"/>`,
          `<text x="${Number(xAt(border.x)) + 6}" y="${top + 12}">${escaped(border.label)}</text>`,
        ]),
    '</svg>',
  ].join('\n')}\n`
}
