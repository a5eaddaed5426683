/** Measures reports of many runs to a slow webhook: how fast they arrive, and how they affect the runs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, createStore } from '@q/store'
import { enqueueAll } from '../contenders/contender.ts'
import { startSlowReceiver, type SlowReceiver } from '../deliveries/slow-receiver.ts'
import { createMarks } from '../jobs/marks.ts'
import { memoryMb } from '../machine/processes.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { untilDrained } from './drain-jobs.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Figures, Measurement } from './measurement.ts'

const takesMs = 20
const pollMs = 100

export const deliveries: Measurement = {
  name: 'deliveries',
  title: 'Reports to a webhook',
  method: `A backlog of runs without work, drained by one replica: first without a destination, then with a webhook on this machine that receives
the end of each run and takes ${takesMs} ms. Receiver, replica and database share the machine.`,
  entrants: [qRetry],
  figures: [
    { key: 'runsAlone', title: 'runs/s without a destination', better: 'more' },
    { key: 'runs', title: 'runs/s with one', better: 'more' },
    { key: 'reports', title: 'reports/s', better: 'more', plotted: true },
    { key: 'inFlight', title: 'requests in flight, at most', better: 'less' },
    { key: 'repeats', title: 'repeated reports', better: 'less' },
    { key: 'memoryMb', title: 'replica, MB at the end', better: 'less' },
  ],
  once: true,
  long: true,
  async sample(bench) {
    const alone = await drain(bench)
    await using receiver = await startSlowReceiver(takesMs)
    const reported = await drain(bench, receiver)
    return { ...reported, runsAlone: alone['runs'] ?? 0 }
  },
}

async function drain(bench: Bench, receiver?: SlowReceiver): Promise<Figures> {
  const { contender } = qRetry
  const count = bench.sizes.reportedRuns
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'q-bench-'))
  try {
    await enqueueAll(producer, count, (number) => ({ number, iterations: 0 }))
    if (receiver !== undefined) await addDestination(database.url, receiver.url, join(folder, 'secret'))
    const settings = bench.settingsFor(contender, 'no-op', 1)
    const { url } = database
    await using workers = startWorkers({ contender, url, settings, processes: 1, marksPath: marks.path })
    await marks.reach(1, () => workers.mustLive())
    const begunMs = performance.now()
    await marks.reach(count, () => workers.mustLive())
    await untilDrained(() => producer.isDrained())
    const runs = (count * 1_000) / (performance.now() - begunMs)
    const received = receiver?.received ?? (() => count)
    while (received() < count) {
      workers.mustLive()
      await sleep(pollMs)
    }
    const reports = (count * 1_000) / (performance.now() - begunMs)
    return {
      runs,
      reports,
      inFlight: receiver?.inFlightMax() ?? 0,
      repeats: (receiver?.requests() ?? 0) - (receiver?.received() ?? 0),
      memoryMb: memoryMb(workers.pids[0] ?? 0),
    }
  } finally {
    await producer.close()
    await rm(folder, { recursive: true })
  }
}

async function addDestination(databaseUrl: string, url: string, secretFile: string): Promise<void> {
  await writeFile(secretFile, 'a secret of the benchmark')
  const connection = connect(databaseUrl, { purpose: 'pool' })
  const settings = { url, secretFile }
  await createStore(connection.db).putDestination({ name: 'hook', kind: 'webhook', reports: ['run-ended'], settings })
  await connection.close()
}
