/** A measurement: its name, its entrants, and how it takes one sample. */
import type { Contender, ContenderSettings, Workload } from '../contenders/contender.ts'
import type { BenchServer } from '../machine/server.ts'
import type { Sizes } from '../run/sizes.ts'

/** A variant of a contender. */
export interface Entrant {
  readonly label: string
  readonly contender: Contender
  readonly processes: number
  readonly onCrash?: 'retry' | 'fail'
}

export interface Measurement {
  /** For `--only`. */
  readonly name: string
  readonly title: string
  /** The method, in sentences for the report. */
  readonly method: string
  readonly entrants: readonly Entrant[]
  /** The figures, in the order of the report's columns. */
  readonly figures: readonly FigureKind[]
  /** Whether one sample is enough, because the result does not vary. */
  readonly once?: boolean
  /** Left out of `--quick`. */
  readonly long?: boolean
  sample(bench: Bench, entrant: Entrant): Promise<Figures>
}

export interface FigureKind {
  readonly key: string
  readonly title: string
  readonly better: 'more' | 'less'
  /** The plot shows this figure. */
  readonly plotted?: boolean
}

export type Figures = Readonly<Record<string, number>>

/** The server, the sizes and the settings of a sample. */
export interface Bench {
  readonly server: BenchServer
  readonly sizes: Sizes
  readonly iterationsPerMs: number
  /** The fastest settings of the sweep, or the first ones where nothing was swept. */
  settingsFor(contender: Contender, workload: Workload, processes: number): ContenderSettings
  /** How many no-op jobs take about a few seconds, by the speed that the sweep has seen. */
  noOpJobs(contender: Contender, processes: number): number
  /** Creates a value once for the whole run; the run closes it. */
  keep<T extends AsyncDisposable>(name: string, make: () => Promise<T>): Promise<T>
}
