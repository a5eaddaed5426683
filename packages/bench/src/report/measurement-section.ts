/** The part of the report about one measurement: how it is taken, a table, a plot. */
import { qRetry } from '../measurements/entrants.ts'
import type { FigureKind, Measurement } from '../measurements/measurement.ts'
import { barChart } from './bar-chart.ts'
import { digits, medianAndRange, table } from './numbers.ts'
import { ratios, type Samples } from './samples.ts'
import { overlaps, spreadOf } from './statistics.ts'

export interface Section {
  readonly text: string
  readonly plots: Readonly<Record<string, string>>
}

/** Undefined if the run has no sample of it. */
export function measurementSection(measurement: Measurement, samples: Samples): Section | undefined {
  const { name, title, method, figures } = measurement
  const taken = samples.of(name)
  const entrants = measurement.entrants
    .map(({ label }) => label)
    .filter((label) => taken.some(({ entrant }) => entrant === label))
  if (entrants.length === 0) return undefined
  const plotted = figures.find((figure) => figure.plotted)
  const valuesOf = (entrant: string, { key }: FigureKind) => [...samples.figure(name, entrant, key).values()]
  const isCompared = plotted !== undefined && entrants.includes(qRetry.label) && entrants.length > 1
  const rows = entrants.map((entrant) => [
    entrant,
    ...figures.map((figure) => medianAndRange(spreadOf(valuesOf(entrant, figure)))),
    ...(isCompared ? [comparison(samples, name, entrant, plotted)] : []),
  ])
  const head = [
    '',
    ...figures.map((figure) => figure.title),
    ...(isCompared ? [`q to this, ${plotted.title.split(',')[0]}`] : []),
  ]
  const only = entrants.length === 1 ? entrants[0] : undefined
  const across = figures.map((figure) => [figure.title, medianAndRange(spreadOf(valuesOf(only ?? '', figure)))])
  const shown = only === undefined ? table(head, rows) : table(['', 'median [range]'], across)
  const parts = [`## ${title}`, method.replaceAll('\n', ' '), shown]
  const plots: Record<string, string> = {}
  if (plotted !== undefined && only === undefined) {
    const bars = entrants.map((label) => ({
      label,
      spread: spreadOf(valuesOf(label, plotted)),
      own: label.startsWith('q'),
    }))
    plots[`${name}.svg`] = barChart(`${title}: ${plotted.title}`, bars)
    parts.push(`![${title}: ${plotted.title}](benchmarks/${name}.svg)`)
  }
  return { text: parts.join('\n\n'), plots }
}

/** q divided by the entrant, within each round; "parity" where the ranges of the two overlap. */
function comparison(samples: Samples, measurement: string, entrant: string, { key }: FigureKind): string {
  if (entrant === qRetry.label) return ''
  const own = samples.figure(measurement, qRetry.label, key)
  const other = samples.figure(measurement, entrant, key)
  const inRounds = ratios(own, other)
  if (inRounds.length === 0) return '–'
  const { median, least, most, count } = spreadOf(inRounds)
  const range = count === 1 ? '' : ` [${digits(least)}–${digits(most)}]`
  const isParity = count > 1 && overlaps(spreadOf([...own.values()]), spreadOf([...other.values()]))
  return `${digits(median)} ×${range}${isParity ? ', parity' : ''}`
}
