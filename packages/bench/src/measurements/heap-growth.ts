/** Measures whether runs leave anything behind in the memory of a replica. */
import type { Producer } from '../contenders/contender.ts'
import { bulkSize } from '../contenders/contender.ts'
import { createMarks, type Marks } from '../jobs/marks.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { untilDrained } from './drain-jobs.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Figures, Measurement } from './measurement.ts'

/** What the replica keeps of its first runs (compiled code, caches) is not growth. */
const warmUpShare = 0.25
/** The most runs that wait: enough for full batches. */
const waitingMax = 20_000

export const heapGrowth: Measurement = {
  name: 'heap-growth',
  title: 'Growth of the heaps',
  method: `The memory that the heaps of all threads of a replica use after a garbage collection: after a warm-up of a quarter as many runs
without work, and after the measured runs.`,
  entrants: [qRetry],
  figures: [
    { key: 'runs', title: 'runs', better: 'more' },
    { key: 'beforeMb', title: 'heaps before, MB', better: 'less' },
    { key: 'afterMb', title: 'heaps after, MB', better: 'less' },
    { key: 'growthMb', title: 'growth, MB', better: 'less' },
  ],
  once: true,
  long: true,
  sample,
}

async function sample(bench: Bench): Promise<Figures> {
  const { contender } = qRetry
  const runs = bench.sizes.heapRuns
  const warmUpRuns = Math.round(runs * warmUpShare)
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url, { onCrash: 'retry' })
  try {
    const settings = bench.settingsFor(contender, 'no-op', 1)
    const { url } = database
    await using workers = startWorkers({
      contender,
      url,
      settings,
      processes: 1,
      marksPath: marks.path,
      probeHeap: true,
    })
    const execute = (count: number) => executeRuns(producer, marks, count, () => workers.mustLive())
    await workers.ready()
    await execute(warmUpRuns)
    const beforeMb = await workers.heapMb()
    await execute(runs)
    const afterMb = await workers.heapMb()
    await producer.check(warmUpRuns + runs)
    return { runs, beforeMb, afterMb, growthMb: afterMb - beforeMb }
  } finally {
    await producer.close()
  }
}

async function executeRuns(producer: Producer, marks: Marks, count: number, alive: () => void): Promise<void> {
  const before = marks.count()
  for (let sent = 0; sent < count; sent += bulkSize) {
    const length = Math.min(bulkSize, count - sent)
    await producer.enqueueMany(Array.from({ length }, (_, index) => ({ number: sent + index, iterations: 0 })))
    await marks.reach(before + sent + length - waitingMax, alive)
  }
  await marks.reach(before + count, alive)
  await untilDrained(() => producer.isDrained())
}
