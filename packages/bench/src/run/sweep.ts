/** Tries the settings of each contender once per shape of work, so that the best of each is compared with the best of others. */
import type { Contender, ContenderSettings, Workload } from '../contenders/contender.ts'
import type { Entrant, Measurement } from '../measurements/measurement.ts'
import { median } from '../report/statistics.ts'
import type { BenchRecord, SweepRecord } from './records.ts'

export interface Trial {
  readonly measurement: Measurement
  readonly entrant: Entrant
  readonly workload: Workload
  readonly variant: string
  readonly settings: ContenderSettings
  readonly round: number
}

const swept: readonly Workload[] = ['no-op', 'cpu-2ms', 'cpu-22ms']

/** Every variant of every contender of these measurements that has more than one. */
export function sweepTrials(measurements: readonly Measurement[], rounds: number): Trial[] {
  const entered = measurements.flatMap((measurement) => {
    const workload = swept.find((name) => name === measurement.name)
    return workload === undefined ? [] : measurement.entrants.map((entrant) => ({ measurement, workload, entrant }))
  })
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    entered
      .filter(({ entrant }) => entrant.onCrash !== 'fail')
      .flatMap(({ measurement, workload, entrant }) => {
        const variants = Object.entries(entrant.contender.variants[workload])
        if (variants.length < 2) return []
        return variants.map(([variant, settings]) => ({ measurement, entrant, workload, variant, settings, round }))
      }),
  )
}

export interface BestVariant {
  readonly variant: string
  readonly settings: ContenderSettings
  /** 0: no trial was recorded. */
  readonly perSecond: number
}

/** The fastest variant of the recorded trials, or the first one. Without trials of so many processes, those of one count. */
export function bestVariant(
  records: readonly BenchRecord[],
  { name, variants }: Contender,
  workload: Workload,
  processes: number,
): BestVariant {
  const trials = records.filter(
    (record): record is SweepRecord =>
      record.kind === 'sweep' && record.contender === name && record.workload === workload,
  )
  const same = trials.filter((trial) => trial.processes === processes)
  const counted = same.length > 0 ? same : trials.filter((trial) => trial.processes === 1)
  const speedOf = (variant: string) =>
    median(counted.filter((trial) => trial.variant === variant).map(({ perSecond }) => perSecond)) || 0
  const [variant = '', settings = {}] =
    Object.entries(variants[workload]).toSorted(([one], [other]) => speedOf(other) - speedOf(one))[0] ?? []
  return { variant, settings, perSecond: speedOf(variant) }
}
