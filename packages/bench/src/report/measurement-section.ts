/** The section of the report about one measurement: its method, a table, a plot. */
import { qRetry } from '../measurements/entrants.ts'
import type { Entrant, FigureKind, Measurement } from '../measurements/measurement.ts'
import { barChart } from './bar-chart.ts'
import { digits, medianAndRange, markdownTable } from './numbers.ts'
import { ratios, type Samples } from './samples.ts'
import { overlaps, spreadOf } from './statistics.ts'

export interface Section {
  readonly text: string
  readonly plots: Readonly<Record<string, string>>
}

/** Undefined if the run has no sample of the measurement. */
export function measurementSection(measurement: Measurement, samples: Samples): Section | undefined {
  const { name, title, method, figures } = measurement
  const taken = new Set(samples.of(name).map(({ entrant }) => entrant))
  const entrants = measurement.entrants.map(({ label }) => label).filter((label) => taken.has(label))
  if (entrants.length === 0) return undefined
  const spread = (entrant: string, { key }: FigureKind) => spreadOf([...samples.figure(name, entrant, key).values()])
  const [only] = entrants.length === 1 ? entrants : []
  if (only !== undefined) {
    const rows = figures.map((figure) => [figure.title, medianAndRange(spread(only, figure))])
    return { text: sectionText(measurement, markdownTable(['', 'median [range]'], rows)), plots: {} }
  }
  const plotted = figures.filter((figure) => figure.plotted)
  const compared = entrants.includes(qRetry.label) ? plotted : []
  const rows = entrants.map((entrant) => [
    entrant,
    ...figures.map((figure) => medianAndRange(spread(entrant, figure))),
    ...compared.map((figure) => comparison(samples, name, entrant, figure)),
  ])
  const head = ['', ...figures.map((figure) => figure.title), ...compared.map((figure) => `q to this: ${figure.title}`)]
  const own = new Set(measurement.entrants.filter(isOwn).map(({ label }) => label))
  const bars = (figure: FigureKind) =>
    entrants.map((label) => ({ label, spread: spread(label, figure), own: own.has(label) }))
  const plots = plotted.map((figure) => ({
    file: `${name}-${figure.key}.svg`,
    title: `${title}: ${figure.title}`,
    svg: barChart(`${title}: ${figure.title}`, bars(figure)),
  }))
  const images = plots.map((plot) => `![${plot.title}](benchmarks/${plot.file})`)
  return {
    text: sectionText({ title, method }, markdownTable(head, rows), ...images),
    plots: Object.fromEntries(plots.map(({ file, svg }) => [file, svg])),
  }
}

function isOwn({ contender }: Entrant): boolean {
  return contender === qRetry.contender
}

function sectionText({ title, method }: Pick<Measurement, 'title' | 'method'>, ...parts: readonly string[]): string {
  return [`## ${title}`, method.replaceAll('\n', ' '), ...parts].join('\n\n')
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
