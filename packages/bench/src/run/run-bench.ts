/** Takes every sample that is missing in the records. */
import type { BenchServer } from '../machine/server.ts'
import { watchSurroundings, type MachineConditions } from '../machine/surroundings.ts'
import type { Bench, Entrant, Figures, Measurement } from '../measurements/measurement.ts'
import { createProgress } from './progress.ts'
import { sampleName, type Records } from './records.ts'
import { rotation, type ScheduledSample } from './rotation.ts'
import type { Sizes } from './sizes.ts'
import { bestVariant, sweepTrials, type Trial } from './sweep.ts'

export interface BenchRun {
  readonly server: BenchServer
  readonly records: Records
  readonly sizes: Sizes
  readonly measurements: readonly Measurement[]
  readonly iterationsPerMs: number
  readonly say: (line: string) => void
  /** Ends the run after the present sample. */
  readonly stopping?: AbortSignal
}

export async function runBench(run: BenchRun): Promise<void> {
  const { server, records, sizes, iterationsPerMs } = run
  const measurements = run.measurements.map(withoutAbsent)
  const trials = sweepTrials(measurements, sizes.sweepRounds).filter((trial) => !isTried(records, trial))
  const turns = rotation(measurements, sizes.rounds).filter((turn) => !isTaken(records, turn))
  const progress = createProgress([...trials.map(trialName), ...turns.map(turnName)], run.say)
  const kept = new Map<string, Promise<AsyncDisposable>>()
  const bench: Bench = {
    server,
    sizes,
    iterationsPerMs,
    settingsFor: (contender, workload, processes) => bestVariant(records.all, contender, workload, processes).settings,
    noOpJobs(contender, processes) {
      const { perSecond } = bestVariant(records.all, contender, 'no-op', processes)
      return noOpJobs(sizes.noOpJobs * (contender.noOpShare ?? 1), perSecond)
    },
    keep(name, make) {
      const made = kept.get(name) ?? make()
      kept.set(name, made)
      // The next sample makes it again.
      void made.catch(() => kept.delete(name))
      return made as ReturnType<typeof make>
    },
  }

  async function take(what: string, round: number, sample: () => Promise<Figures>, keep: Keep): Promise<void> {
    if (run.stopping?.aborted) return
    progress.begin(what)
    const begunMs = performance.now()
    const surroundings = watchSurroundings(server.postmasterPid, server.dataDir)
    const secondsSoFar = () => (performance.now() - begunMs) / 1_000
    try {
      const figures = await sample()
      keep({ figures, seconds: secondsSoFar(), ...surroundings() })
      progress.end(what, secondsSoFar(), summary(figures))
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      records.add({ kind: 'failure', what, round, error: text.slice(0, 500) })
      progress.end(what, secondsSoFar(), `failed: ${text}`)
    }
  }

  for (const { measurement, entrant, settings, ...trial } of trials) {
    const { contender, processes } = entrant
    const trialBench: Bench = {
      ...bench,
      settingsFor: () => settings,
      noOpJobs: () => Math.ceil((sizes.noOpJobs * (contender.noOpShare ?? 1)) / 2),
    }
    const what = `sweep, ${measurement.name}: ${entrant.label}, ${trial.variant}`
    await take(
      what,
      trial.round,
      () => measurement.sample(trialBench, entrant),
      ({ figures: { perSecond = 0 }, seconds: _seconds, ...around }) =>
        records.add({ kind: 'sweep', contender: contender.name, processes, ...trial, perSecond, ...around }),
    )
  }
  for (const { measurement, entrant, round } of turns) {
    const names = { measurement: measurement.name, entrant: entrant.label, round }
    await take(
      sampleName(names),
      round,
      () => measurement.sample(bench, entrant),
      (taken) => records.add({ kind: 'sample', ...names, ...taken }),
    )
  }
  for (const made of kept.values()) await made.then((each) => each[Symbol.asyncDispose](), noted)
}

/** A value that could not be created has already failed its sample. */
const noted = () => {}

const drainSeconds = 3

/** The number of jobs that are drained in a few seconds, but at least a twentieth of the maximum. */
function noOpJobs(most: number, perSecond: number): number {
  if (perSecond === 0) return Math.ceil(most)
  return Math.ceil(Math.min(most, Math.max(most / 20, perSecond * drainSeconds)))
}

type Keep = (taken: MachineConditions & { figures: Figures; seconds: number }) => void

function withoutAbsent(measurement: Measurement): Measurement {
  const isHere = ({ contender }: Entrant) => contender.absent?.() === undefined
  return { ...measurement, entrants: measurement.entrants.filter(isHere) }
}

function isTaken({ all }: Records, { measurement, entrant, round }: ScheduledSample): boolean {
  return all.some(
    (record) =>
      record.kind === 'sample' &&
      record.measurement === measurement.name &&
      record.entrant === entrant.label &&
      record.round === round,
  )
}

function isTried({ all }: Records, { entrant, workload, variant, round }: Trial): boolean {
  return all.some(
    (record) =>
      record.kind === 'sweep' &&
      record.contender === entrant.contender.name &&
      record.processes === entrant.processes &&
      record.workload === workload &&
      record.variant === variant &&
      record.round === round,
  )
}

const trialName = ({ measurement, entrant }: Trial) => `sweep ${measurement.name} ${entrant.label}`
const turnName = ({ measurement, entrant }: ScheduledSample) => `${measurement.name} ${entrant.label}`

function summary(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)
    .join(', ')
}
