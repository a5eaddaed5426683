/** Measures how many jobs a producer inserts durably per second. */
import { bulkSize, type Producer } from '../contenders/contender.ts'
import { peersOnce, qRetry } from './entrants.ts'
import type { Bench, Entrant, Figures, Measurement } from './measurement.ts'

export const enqueueRate: Measurement = {
  name: 'enqueue',
  title: 'Enqueue',
  method: `Durable jobs per second of one producer process without a worker: one call after the other, 20 and 200 callers at a time,
and calls that insert ${bulkSize} jobs. Peers have a pool of 20 connections, q has the pool that \`queue()\` makes.`,
  entrants: [qRetry, ...peersOnce],
  figures: [
    { key: 'sequential', title: 'sequential, jobs/s', better: 'more', plotted: true },
    { key: 'callers20', title: '20 callers, jobs/s', better: 'more', plotted: true },
    { key: 'callers200', title: '200 callers, jobs/s', better: 'more' },
    { key: 'bulk', title: `bulk of ${bulkSize}, jobs/s`, better: 'more', plotted: true },
  ],
  sample,
}

async function sample({ server, sizes }: Bench, { contender }: Entrant): Promise<Figures> {
  await using database = await server.database(contender)
  const producer = await contender.produce(database.url)
  try {
    // The first calls open connections and prepare statements.
    await callFor(producer, 200, sizes.enqueueMs / 3)
    return {
      sequential: await callFor(producer, 1, sizes.enqueueMs),
      callers20: await callFor(producer, 20, sizes.enqueueMs),
      callers200: await callFor(producer, 200, sizes.enqueueMs),
      bulk: await insertFor(producer, sizes.enqueueMs),
    }
  } finally {
    await producer.close()
  }
}

/** Calls per second of this many callers, each of which waits for its answer. */
async function callFor(producer: Producer, callers: number, forMs: number): Promise<number> {
  const begunMs = performance.now()
  let enqueued = 0
  const call = async () => {
    while (performance.now() - begunMs < forMs) {
      await producer.enqueue({ number: 0, iterations: 0 })
      enqueued++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return (enqueued * 1_000) / (performance.now() - begunMs)
}

async function insertFor(producer: Producer, forMs: number): Promise<number> {
  const jobs = Array.from({ length: bulkSize }, (_, number) => ({ number, iterations: 0 }))
  const begunMs = performance.now()
  let enqueued = 0
  do {
    await producer.enqueueMany(jobs)
    enqueued += jobs.length
  } while (performance.now() - begunMs < forMs)
  return (enqueued * 1_000) / (performance.now() - begunMs)
}
