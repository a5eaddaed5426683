/** The records of a run, one JSON line each, so that a run that was stopped can be resumed. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Figures } from '../measurements/measurement.ts'
import type { MachineConditions } from '../machine/surroundings.ts'
import type { Workload } from '../contenders/contender.ts'
import type { BenchRunFacts } from './run-facts.ts'

export interface BenchRunRecord extends BenchRunFacts {
  readonly kind: 'run'
}

/** One trial of the settings of a contender. */
export interface SweepRecord extends MachineConditions {
  readonly kind: 'sweep'
  readonly contender: string
  readonly workload: Workload
  readonly processes: number
  readonly variant: string
  readonly round: number
  readonly perSecond: number
}

export interface SampleRecord extends MachineConditions {
  readonly kind: 'sample'
  readonly measurement: string
  readonly entrant: string
  readonly round: number
  readonly seconds: number
  readonly figures: Figures
}

/** The name of a sample, in the progress and in a failure. */
export function sampleName({
  round,
  measurement,
  entrant,
}: Pick<SampleRecord, 'round' | 'measurement' | 'entrant'>): string {
  return `round ${round}, ${measurement}: ${entrant}`
}

/** A sample that could not be taken. A resumed run tries it again. */
export interface FailureRecord {
  readonly kind: 'failure'
  readonly what: string
  readonly round: number
  readonly error: string
}

export type BenchRecord = BenchRunRecord | SweepRecord | SampleRecord | FailureRecord

export interface Records {
  readonly all: readonly BenchRecord[]
  add(record: BenchRecord): void
}

/** Without `resume` an earlier run in the same file is removed. */
export function openRecords(path: string, resume: boolean): Records {
  mkdirSync(dirname(path), { recursive: true })
  if (!resume) rmSync(path, { force: true })
  const all = existsSync(path) ? readFileSync(path, 'utf8').split('\n').flatMap(parsed) : []
  return {
    all,
    add(record) {
      appendFileSync(path, `${JSON.stringify(record)}\n`)
      all.push(record)
    },
  }
}

/** A truncated last line, left by a stopped run, counts as missing. */
function parsed(line: string): BenchRecord[] {
  try {
    return [JSON.parse(line) as BenchRecord]
  } catch {
    return []
  }
}
