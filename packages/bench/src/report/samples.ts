/** Samples of a run, looked up by measurement, entrant and round. */
import type { BenchRecord, SampleRecord } from '../run/records.ts'

export interface Samples {
  /** A figure of an entrant, by round. */
  figure(measurement: string, entrant: string, key: string): Map<number, number>
  of(measurement: string): readonly SampleRecord[]
}

export function samplesOf(records: readonly BenchRecord[]): Samples {
  const samples = records.filter((record): record is SampleRecord => record.kind === 'sample')
  return {
    of: (measurement) => samples.filter((sample) => sample.measurement === measurement),
    figure(measurement, entrant, key) {
      const found = samples.filter((sample) => sample.measurement === measurement && sample.entrant === entrant)
      return new Map(found.flatMap(({ round, figures }) => (figures[key] === undefined ? [] : [[round, figures[key]]])))
    },
  }
}

/** One figure divided by another, within each round that has both. */
export function ratios(above: ReadonlyMap<number, number>, below: ReadonlyMap<number, number>): number[] {
  return [...above].flatMap(([round, value]) => {
    const divisor = below.get(round)
    return divisor === undefined ? [] : [value / divisor]
  })
}

/** The best value of each round. */
export function bestOf(figures: readonly ReadonlyMap<number, number>[], better: 'more' | 'less'): Map<number, number> {
  const rounds = new Set(figures.flatMap((figure) => [...figure.keys()]))
  const choose = better === 'more' ? Math.max : Math.min
  return new Map(
    [...rounds].map((round) => [round, choose(...figures.flatMap((figure) => figure.get(round) ?? []))] as const),
  )
}
