/** Drains a backlog once: from the first job that begins to the last durable end. */
import { setTimeout as passing } from 'node:timers/promises'
import { enqueueAll, expectCount, type Workload } from '../contenders/contender.ts'
import { monotonicMs, type Job } from '../jobs/job.ts'
import { createMarks } from '../jobs/marks.ts'
import type { CountingProxy } from '../machine/counting-proxy.ts'
import { meterCost } from '../machine/cost-meter.ts'
import { startWorkers } from '../machine/start-workers.ts'
import type { Bench, Entrant, Figures } from './measurement.ts'

export interface Backlog {
  readonly workload: Workload
  readonly count: number
  /** Computation of one job. */
  readonly jobMs: number
  /** Counts the round trips of the workers. */
  readonly through?: (url: string) => Promise<CountingProxy>
}

/** Costs that say nothing about a contender that does not use PostgreSQL. */
const ofPostgres = ['serverUs', 'walBytes']
const drainedPollMs = 2
const drainedMsMax = 60_000

export async function drainJobs(bench: Bench, entrant: Entrant, backlog: Backlog): Promise<Figures> {
  const { workload, count, jobMs, through } = backlog
  const { contender, processes, onCrash = 'retry' } = entrant
  const iterations = Math.round(jobMs * bench.iterationsPerMs)
  const jobOf = (number: number): Job => ({ number, iterations })
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url, { onCrash })
  try {
    await enqueueAll(producer, count, jobOf)
    const settings = bench.settingsFor(contender, workload, processes)
    const plain = { count, job: jobOf(0) }
    await using proxy = await through?.(database.url)
    await using workers = startWorkers({
      contender,
      url: proxy?.url ?? database.url,
      settings,
      processes,
      marksPath: marks.path,
      plain,
    })
    const alive = () => workers.mustLive()
    await marks.reach(1, alive)
    const costs = await meterCost(bench.server, workers.pids)
    const metered = Math.max(1, count - marks.count())
    const tripsBefore = proxy?.count() ?? 0
    await marks.reach(count + (contender.extraMarks ?? 0), alive)
    await untilDrained(() => producer.isDrained())
    const endedMs = monotonicMs()
    const spent = { ...(await costs()), ...(proxy && { roundTrips: proxy.count() - tripsBefore }) }
    expectCount(`jobs that ${entrant.label} began`, marks.count(), count + (contender.extraMarks ?? 0))
    await producer.check(count)
    const elapsedMs = endedMs - marks.at(0).atMs
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

/** Waits until every job has ended, durably. */
export async function untilDrained(isDrained: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + drainedMsMax
  while (!(await isDrained())) {
    if (performance.now() > untilMs) throw new Error('Every job began, but not every job ended.')
    await passing(drainedPollMs)
  }
}
