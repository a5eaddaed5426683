/** The interface that the benchmark requires of a queue: a schema, a producer, and a worker process. */
import type { Job } from '../jobs/job.ts'

export interface Contender {
  readonly name: string
  /** The npm package; null: the programs of this repository. */
  readonly package: string | null
  /** Whether it keeps its jobs in PostgreSQL. */
  readonly postgres: boolean
  /** The share of the no-op jobs that it gets, if all of them would take too long. */
  readonly noOpShare?: number
  /** The number of marks in addition to one per job. */
  readonly extraMarks?: number
  /** The settings to try, by name, for each shape of work; the benchmark keeps the fastest. */
  readonly variants: Readonly<Record<Workload, Readonly<Record<string, ContenderSettings>>>>
  /** Why it cannot run on this machine; undefined if it can. */
  absent?(): string | undefined
  /** Creates the place for a sample's jobs, if it is not a database of the benchmark's server. */
  startBackend?(): Promise<{ readonly url: string } & AsyncDisposable>
  /** Creates its schema in a new database. */
  install(url: string): Promise<void>
  produce(url: string, options?: ProducerOptions): Promise<Producer>
  /** Called in a worker process; resolves when the worker takes jobs. */
  serve(url: string, settings: ContenderSettings): Promise<Serving>
}

export type Workload = 'no-op' | 'cpu-2ms' | 'cpu-22ms' | 'idle'

export type ContenderSettings = Readonly<Record<string, number>>

export interface ProducerOptions {
  /** `fail`: after a crash the job fails; only q distinguishes. */
  readonly onCrash?: 'retry' | 'fail'
  /** The time after which a worker without a heartbeat counts as dead; only pg-boss has it as a job option. */
  readonly heartbeatSeconds?: number
}

export interface Producer {
  enqueue(job: Job): Promise<unknown>
  enqueueMany(jobs: readonly Job[]): Promise<unknown>
  /** Whether every job has ended, durably. */
  isDrained(): Promise<boolean>
  /** Throws unless exactly this many jobs succeeded, each at its first attempt. */
  check(count: number): Promise<void>
  close(): Promise<void>
}

export interface Serving {
  stop(): Promise<unknown>
}

/** A worker process prints this line when it takes jobs. */
export const readyLine = 'bench: ready'
/** It prints this line with a number of bytes when it is asked for the size of its heaps (heap-probe.ts). */
export const heapLine = 'bench: heap in use:'

/** The number of jobs per bulk insert. */
export const bulkSize = 1_000

export async function enqueueAll(producer: Producer, count: number, jobOf: (number: number) => Job): Promise<void> {
  for (let first = 0; first < count; first += bulkSize) {
    const length = Math.min(bulkSize, count - first)
    await producer.enqueueMany(Array.from({ length }, (_, index) => jobOf(first + index)))
  }
}

export function expectCount(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${what}: ${found}, expected ${wanted}.`)
}
