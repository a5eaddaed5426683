/**
 * The long run: many short runs, then a mixed load while a session holds a snapshot, so that PostgreSQL cannot remove
 * dead tuples. Samples throughput, memory and dead tuples at regular intervals.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { bulkSize, type Producer } from '../contenders/contender.ts'
import { q } from '../contenders/q.ts'
import type { Job } from '../jobs/job.ts'
import { createMarks, type Marks } from '../jobs/marks.ts'
import { queryRows } from '../machine/database.ts'
import { holdSnapshot } from '../machine/held-snapshot.ts'
import { memoryMb } from '../machine/processes.ts'
import type { BenchServer } from '../machine/server.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { untilDrained } from '../measurements/drain-jobs.ts'

export interface SoakOptions {
  readonly server: BenchServer
  readonly iterationsPerMs: number
  readonly shortRuns: number
  readonly mixedMs: number
  readonly sampleEveryMs: number
  readonly onSample: (sample: SoakSample) => void
}

export interface SoakSample {
  readonly phase: 'short runs' | 'mixed load, held snapshot'
  readonly atS: number
  /** The number of runs that have begun. */
  readonly runs: number
  readonly perSecond: number
  /** Memory of the replica. */
  readonly memoryMb: number
  readonly deadTuples: number
  readonly tableMb: number
}

/** The most short runs that wait: enough for full batches, without distorting the samples of the table. */
const waitingMax = 20_000
const mixedEveryMs = 100
/** Enqueued at each of these intervals: about two thirds of a core of computation. */
const mixed = [
  { count: 40, jobMs: 0 },
  { count: 10, jobMs: 2.2 },
  { count: 2, jobMs: 22 },
]

export async function runSoak(options: SoakOptions): Promise<void> {
  const { server, shortRuns, mixedMs } = options
  await using database = await server.database(q)
  using marks = createMarks()
  const { url } = database
  const producers = {
    retry: await q.produce(url, { onCrash: 'retry' }),
    fail: await q.produce(url, { onCrash: 'fail' }),
  }
  await using workers = startWorkers({ contender: q, url, settings: {}, processes: 1, marksPath: marks.path })
  const alive = () => workers.mustLive()
  const sampling = startSampling(options, { url, marks, pid: workers.pids[0] ?? 0 })
  try {
    await enqueueShort(producers.retry, marks, shortRuns, alive)
    await marks.reach(shortRuns, alive)
    const snapshot = await holdSnapshot(url)
    sampling.phase('mixed load, held snapshot')
    const mixedRuns = await enqueueMixed(producers, options, mixedMs)
    await marks.reach(shortRuns + mixedRuns, alive)
    await untilDrained(() => producers.retry.isDrained())
    await sampling.stop()
    await snapshot.close()
    await producers.retry.check(shortRuns + mixedRuns)
    await workers.stop()
  } finally {
    await sampling.stop()
    await Promise.all([producers.retry.close(), producers.fail.close()])
  }
}

async function enqueueShort(producer: Producer, marks: Marks, count: number, alive: () => void): Promise<void> {
  for (let sent = 0; sent < count; sent += bulkSize) {
    const length = Math.min(bulkSize, count - sent)
    await producer.enqueueMany(Array.from({ length }, (_, index) => ({ number: sent + index, iterations: 0 })))
    await marks.reach(sent + length - waitingMax, alive)
  }
}

/** Returns how many runs it enqueued. */
async function enqueueMixed(
  producers: Readonly<Record<'retry' | 'fail', Producer>>,
  { iterationsPerMs }: SoakOptions,
  forMs: number,
): Promise<number> {
  const begunMs = performance.now()
  let enqueued = 0
  for (let round = 0; performance.now() - begunMs < forMs; round++) {
    const jobs = mixed.flatMap(({ count, jobMs }): Job[] =>
      Array.from({ length: count }, () => ({ number: 0, iterations: Math.round(jobMs * iterationsPerMs) })),
    )
    await producers[round % 2 === 0 ? 'retry' : 'fail'].enqueueMany(jobs)
    enqueued += jobs.length
    await sleep(Math.max(0, begunMs + (round + 1) * mixedEveryMs - performance.now()))
  }
  return enqueued
}

interface Sampling {
  phase(next: SoakSample['phase']): void
  stop(): Promise<void>
}

function startSampling(
  { sampleEveryMs, onSample }: SoakOptions,
  { url, marks, pid }: { url: string; marks: Marks; pid: number },
): Sampling {
  const begunMs = performance.now()
  const stopping = new AbortController()
  let phase: SoakSample['phase'] = 'short runs'
  let last = { atS: 0, runs: 0 }
  async function takeSample(): Promise<void> {
    const [row] = await queryRows<{ dead: number; megabytes: number }>(
      url,
      `SELECT n_dead_tup::float8 AS dead, (pg_total_relation_size(relid) / 1048576.0)::float8 AS megabytes
       FROM pg_stat_user_tables WHERE schemaname = 'q' AND relname = 'task_run'`,
    )
    const atS = (performance.now() - begunMs) / 1_000
    const runs = marks.count()
    const perSecond = (runs - last.runs) / (atS - last.atS)
    last = { atS, runs }
    onSample({
      phase,
      atS,
      runs,
      perSecond,
      memoryMb: memoryMb(pid),
      deadTuples: row?.dead ?? 0,
      tableMb: row?.megabytes ?? 0,
    })
  }
  const samples = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(sampleEveryMs, undefined, { signal: stopping.signal }).catch(() => {})
      await takeSample()
    }
  })()
  return {
    phase: (next) => (phase = next),
    async stop() {
      stopping.abort()
      await samples
    },
  }
}
