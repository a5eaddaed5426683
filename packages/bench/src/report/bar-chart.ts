/** A bar for each entrant, with the range of its samples, as an SVG that is readable on light and dark pages. */
import { digits } from './numbers.ts'
import type { Spread } from './statistics.ts'

interface Bar {
  readonly label: string
  readonly spread: Spread
  /** Whether the bar has the colour of q. */
  readonly own: boolean
}

const width = 820
const labelWidth = 300
const valueWidth = 110
const barHeight = 18
const step = 28
const top = 40

export function barChart(title: string, bars: readonly Bar[]): string {
  const scale = (width - labelWidth - valueWidth) / Math.max(...bars.map(({ spread }) => spread.most), Number.MIN_VALUE)
  const height = top + bars.length * step + 10
  const lines = bars.flatMap(({ label, spread, own }, index) => {
    const y = top + index * step
    const middle = y + barHeight / 2
    const at = (value: number) => (labelWidth + value * scale).toFixed(1)
    return [
      `<text x="${labelWidth - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${(spread.median * scale).toFixed(1)}" height="${barHeight}" class="${own ? 'own' : 'peer'}"/>`,
      `<path d="M${at(spread.least)} ${middle}H${at(spread.most)}M${at(spread.least)} ${middle - 4}v8M${at(spread.most)} ${middle - 4}v8"/>`,
      `<text x="${(labelWidth + spread.most * scale + 8).toFixed(1)}" y="${middle + 4}">${digits(spread.median)}</text>`,
    ]
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    chartStyle,
    `<text x="10" y="22" class="title">${escaped(title)}</text>`,
    ...lines,
    '</svg>',
  ].join('\n')}\n`
}

/** Colours for light and dark pages. */
export const chartStyle = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.own { fill: #2f6fdb } .peer { fill: #9aa4b1 }
path { stroke: #24292f; fill: none } .line { stroke: #2f6fdb; fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } path { stroke: #e6edf3 } .own { fill: #6ea8ff } .line { stroke: #6ea8ff } .peer { fill: #66707d }
}
</style>`

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
