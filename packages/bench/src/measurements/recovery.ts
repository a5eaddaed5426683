/** Measures how soon the jobs of a killed worker begin again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createMarks } from '../jobs/marks.ts'
import { marksVariable, monotonicMs } from '../jobs/job.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { cores, qRetry } from './entrants.ts'
import type { Bench, Figures, Measurement } from './measurement.ts'

/** Longer than the measurement. */
const blockMs = 120_000

export const recoveryTime: Measurement = {
  name: 'recovery',
  title: 'Recovery after kill -9',
  method: `Two replicas of q; the first executes ${cores} jobs with \`onCrash: 'retry'\` and is killed. The time from the signal until the code of
these jobs begins again on the second. The peers were not measured; their documentation gives these bounds. graphile-worker: a job
stays locked for [4 hours](https://worker.graphile.org/docs/error-handling). pg-boss: a job expires after
[15 minutes](https://pgboss.io/api/jobs), or, with \`heartbeatSeconds\` (10 at the least), when the monitor next runs. BullMQ:
a job counts as stalled when its lock of 30 s has expired, looked for every
[30 s](https://docs.bullmq.io/guide/workers/stalled-jobs).`,
  entrants: [qRetry],
  figures: [
    { key: 'firstMs', title: 'first job begins again, ms', better: 'less' },
    { key: 'lastMs', title: 'last job begins again, ms', better: 'less' },
  ],
  sample,
}

async function sample(bench: Bench): Promise<Figures> {
  const { contender } = qRetry
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url)
  const { url } = database
  // A job whose process died is executed next in a child process.
  const env = { Q_CHILD_ENV: marksVariable }
  const start = () => startWorkers({ contender, url, settings: {}, processes: 1, marksPath: marks.path, env })
  try {
    await producer.enqueueMany(Array.from({ length: cores }, (_, number) => ({ number, iterations: 0, blockMs })))
    await using victim = start()
    await marks.reach(cores, () => victim.mustLive())
    await using survivor = start()
    await producer.enqueue({ number: cores, iterations: 0 })
    await marks.reach(cores + 1, () => survivor.mustLive())
    await sleep(bench.sizes.trustMs)
    const killedMs = monotonicMs()
    await victim.kill(0)
    await marks.reach(cores * 2 + 1, () => survivor.mustLive())
    const again = marks.all().slice(cores + 1)
    return {
      firstMs: Math.min(...again.map(({ atMs }) => atMs)) - killedMs,
      lastMs: Math.max(...again.map(({ atMs }) => atMs)) - killedMs,
    }
  } finally {
    await producer.close()
  }
}
