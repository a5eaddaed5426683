/** Measures the cost of an idle worker. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createMarks } from '../jobs/marks.ts'
import { meterCost } from '../machine/cost-meter.ts'
import { startCountingProxy } from '../machine/counting-proxy.ts'
import { memoryMb } from '../machine/processes.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { postgresPeersOnce, qRetry } from './entrants.ts'
import type { Bench, Entrant, Figures, Measurement } from './measurement.ts'

export const idle: Measurement = {
  name: 'idle',
  title: 'An idle worker',
  method: `One process that has been without jobs for a while. A proxy counts its
transactions. The replica of q is the third of three, so it has no duty for the others.`,
  entrants: [qRetry, ...postgresPeersOnce],
  figures: [
    { key: 'perSecond', title: 'transactions/s', better: 'less' },
    { key: 'cpuPercent', title: 'process, % of a core', better: 'less', plotted: true },
    { key: 'memoryMb', title: 'memory, MB', better: 'less' },
  ],
  sample,
}

async function sample(bench: Bench, { contender }: Entrant): Promise<Figures> {
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  await using proxy = await startCountingProxy(database.url)
  const settings = bench.settingsFor(contender, 'idle', 1)
  const start = (url: string, processes: number) =>
    startWorkers({ contender, url, settings, processes, marksPath: marks.path })
  const producer = await contender.produce(database.url)
  try {
    // The first replica of q has every duty, the second is the deputy of the watch, the third has none.
    const hasDuties = contender === qRetry.contender
    await using others = start(database.url, hasDuties ? bench.sizes.idleOthers : 0)
    await producer.enqueue({ number: 0, iterations: 0 })
    if (others.pids.length > 0) await marks.reach(1, () => others.mustLive())
    const quietMs = hasDuties ? bench.sizes.quietMs : bench.sizes.quietMs / 4
    await using worker = start(proxy.url, 1)
    await worker.ready()
    await marks.reach(1, () => worker.mustLive())
    await sleep(quietMs)
    const costs = await meterCost(bench.server, worker.pids)
    const before = proxy.count().transactions
    const begunMs = performance.now()
    await sleep(hasDuties ? bench.sizes.idleMs : bench.sizes.idleMs / 2)
    const seconds = (performance.now() - begunMs) / 1_000
    const transactions = proxy.count().transactions - before
    const { workerUs } = await costs()
    return {
      perSecond: transactions / seconds,
      cpuPercent: workerUs / seconds / 1e4,
      memoryMb: memoryMb(worker.pids[0] ?? 0),
    }
  } finally {
    await producer.close()
  }
}
