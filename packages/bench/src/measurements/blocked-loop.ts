/** Measures which queues execute a job twice because it blocks its thread. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createMarks } from '../jobs/marks.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { peersOnce, qRetry } from './entrants.ts'
import type { Bench, Entrant, Figures, Measurement } from './measurement.ts'

const entered = [qRetry, ...peersOnce]
const heartbeatSeconds = 10
const pollMs = 200

export const blockedLoop: Measurement = {
  name: 'blocked-loop',
  title: 'A job that blocks its thread',
  method: `One job blocks its thread for 90 s without computing, on two worker processes of each contender; all contenders at once. More
than one begin means that the job ran twice at the same time. pg-boss has \`heartbeatSeconds: ${heartbeatSeconds}\`, with which it notices dead workers;
without it a job is executed again after 15 minutes. graphile-worker executes a job again after 4 hours.`,
  entrants: [{ ...qRetry, label: 'all contenders' }],
  figures: entered.map(({ label }) => ({ key: label, title: `${label}: begins`, better: 'less' })),
  once: true,
  long: true,
  async sample(bench) {
    const begins = await Promise.all(
      entered.map(async (entrant) => [entrant.label, await beginsOf(bench, entrant)] as const),
    )
    return Object.fromEntries(begins) satisfies Figures
  },
}

async function beginsOf(bench: Bench, { contender }: Entrant): Promise<number> {
  if (contender.absent?.() !== undefined) return Number.NaN
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url, { heartbeatSeconds })
  try {
    const { url } = database
    const settings = bench.settingsFor(contender, 'idle', 1)
    await using workers = startWorkers({ contender, url, settings, processes: 2, marksPath: marks.path })
    await producer.enqueue({ number: 0, iterations: 0, blockMs: bench.sizes.blockMs })
    await marks.reach(1, () => workers.mustLive())
    const untilMs = performance.now() + bench.sizes.blockMs
    while (performance.now() < untilMs && marks.count() === 1) await sleep(pollMs)
    return marks.count()
  } finally {
    await producer.close()
  }
}
