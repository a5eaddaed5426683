/** Drains a backlog once: from the first job that begins to the last durable end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { enqueueAll, expectCount, type Producer, type Workload } from '../contenders/contender.ts'
import { monotonicMs, type Job } from '../jobs/job.ts'
import { createMarks, type Marks } from '../jobs/marks.ts'
import type { CountingProxy } from '../machine/counting-proxy.ts'
import { meterCost } from '../machine/cost-meter.ts'
import { startWorkers, type Workers } from '../machine/start-workers.ts'
import type { Bench, Entrant, Figures } from './measurement.ts'

export interface JobBacklog {
  readonly workload: Workload
  readonly count: number
  /** Computation of one job. */
  readonly jobMs: number
  /** Whether the workers are ready, and have executed a few jobs, before the backlog is enqueued. */
  readonly warm?: boolean
  /** Counts the round trips of the workers. */
  readonly through?: (url: string) => Promise<CountingProxy>
}

/** Costs that do not apply to a contender without PostgreSQL. */
const ofPostgres = ['serverUs', 'walBytes']
const warmUpEach = 30
const drainedPollMs = 2
const drainedMsMax = 60_000

export async function drainJobs(bench: Bench, entrant: Entrant, backlog: JobBacklog): Promise<Figures> {
  const { workload, count, jobMs, through, warm = false } = backlog
  const { contender, processes, onCrash = 'retry' } = entrant
  const iterations = Math.round(jobMs * bench.iterationsPerMs)
  const jobOf = (number: number): Job => ({ number, iterations })
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url, { onCrash })
  try {
    if (!warm) await enqueueAll(producer, count, jobOf)
    await using proxy = await through?.(database.url)
    await using workers = startWorkers({
      contender,
      url: proxy?.url ?? database.url,
      settings: bench.settingsFor(contender, workload, processes),
      processes,
      marksPath: marks.path,
      plain: { count, job: jobOf(0) },
    })
    const alive = () => workers.mustLive()
    const warmUpJobs = warm ? await warmUp({ workers, producer, marks }, jobOf(-1)) : 0
    if (warm) await enqueueAll(producer, count, jobOf)
    const marksExpected = warmUpJobs + count + (contender.extraMarks ?? 0)
    await marks.reach(warmUpJobs + 1, alive)
    const costs = await meterCost(bench.server, workers.pids)
    const metered = Math.max(1, warmUpJobs + count - marks.count())
    const tripsBefore = proxy?.count().roundTrips ?? 0
    await marks.reach(marksExpected, alive)
    await untilDrained(() => producer.isDrained())
    const elapsedMs = monotonicMs() - marks.at(warmUpJobs).atMs
    const spent = { ...(await costs()), ...(proxy && { roundTrips: proxy.count().roundTrips - tripsBefore }) }
    expectCount(`jobs that ${entrant.label} began`, marks.count(), marksExpected)
    await producer.check(warmUpJobs + count)
    await workers.stop()
    const isMetered = (name: string) => contender.postgres || !ofPostgres.includes(name)
    const each = Object.entries(spent).filter(([name]) => isMetered(name))
    return {
      perSecond: (count * 1_000) / elapsedMs,
      ...Object.fromEntries(each.map(([name, amount]) => [name, amount / metered])),
    }
  } finally {
    await producer.close()
  }
}

interface Started {
  readonly workers: Workers
  readonly producer: Producer
  readonly marks: Marks
}

/** Executes a few jobs when every worker is ready; returns their number. */
async function warmUp({ workers, producer, marks }: Started, job: Job): Promise<number> {
  await workers.ready()
  const count = workers.pids.length * warmUpEach
  await producer.enqueueMany(Array.from({ length: count }, () => job))
  await marks.reach(count, () => workers.mustLive())
  await untilDrained(() => producer.isDrained())
  return count
}

/** Waits until every job has ended, durably. */
export async function untilDrained(isDrained: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + drainedMsMax
  while (!(await isDrained())) {
    if (performance.now() > untilMs) throw new Error('Every job began, but not every job ended.')
    await sleep(drainedPollMs)
  }
}
