/** Measures the time from the call of enqueue to the first line of the job's code, on an idle queue. */
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../jobs/job.ts'
import { createMarks } from '../jobs/marks.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { nearestRank } from '../report/statistics.ts'
import { untilDrained } from './drain-jobs.ts'
import { peersOnce, qRetry } from './entrants.ts'
import type { Bench, Entrant, Figures, Measurement } from './measurement.ts'

const warmUpJobs = 20
/** Long enough for the worker to be idle again. */
const pauseMsMax = 12

export const latency: Measurement = {
  name: 'latency',
  title: 'Latency of an idle queue',
  method: `The time from the call of enqueue to the first line of the job's code, in another process. One job at a time, with a
pause of up to ${pauseMsMax} ms before the next one.`,
  entrants: [qRetry, ...peersOnce],
  figures: [
    { key: 'p50', title: 'p50, ms', better: 'less', plotted: true },
    { key: 'p99', title: 'p99, ms', better: 'less', plotted: true },
  ],
  sample,
}

async function sample(bench: Bench, { contender, processes }: Entrant): Promise<Figures> {
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const settings = bench.settingsFor(contender, 'idle', processes)
  await using workers = startWorkers({ contender, url: database.url, settings, processes, marksPath: marks.path })
  const producer = await contender.produce(database.url)
  try {
    const tookMs: number[] = []
    const count = warmUpJobs + bench.sizes.latencyJobs
    for (let number = 0; number < count; number++) {
      const calledMs = monotonicMs()
      await producer.enqueue({ number, iterations: 0 })
      await marks.reach(number + 1, () => workers.mustLive())
      tookMs.push(marks.at(number).atMs - calledMs)
      await sleep(Math.random() * pauseMsMax)
    }
    const measured = tookMs.slice(warmUpJobs)
    await untilDrained(() => producer.isDrained())
    await producer.check(count)
    return { p50: nearestRank(measured, 0.5), p99: nearestRank(measured, 0.99) }
  } finally {
    await producer.close()
  }
}
