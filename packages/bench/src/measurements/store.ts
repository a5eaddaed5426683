/** Measures the cost of the store's verbs to the server, without a runner: one connection, batches of a fixed size. */
import { connect } from '@q/store'
import { scenarios } from '../store/scenarios.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Measurement } from './measurement.ts'

const batch = 200

export const store: Measurement = {
  name: 'store',
  title: 'Verbs of the store',
  method: `Processor time of the one backend that serves the benchmark, and the write-ahead log, for each run: ${batch} runs in each statement. The
first row is the same updates without lanes, groups, keys and history, as a yardstick. A checkpoint before each sample makes the first
change of each page a full image, which is about a third of the log.`,
  entrants: scenarios.map(({ name }) => ({ ...qRetry, label: name })),
  figures: [
    { key: 'cpuUs', title: 'server CPU, µs/run', better: 'less' },
    { key: 'walBytes', title: 'WAL, B/run', better: 'less' },
  ],
  long: true,
  async sample(bench, { label }) {
    const scenario = scenarios.find(({ name }) => name === label)
    if (scenario === undefined) throw new Error(`There is no scenario ${label}.`)
    const { connection } = await bench.keep('store', () => open(bench))
    const rows = bench.sizes.storeRows
    const { cpuUs, walBytes } = await scenario.run({ connection, rows, batch: Math.min(batch, Math.ceil(rows / 4)) })
    return { cpuUs: cpuUs / rows, walBytes: walBytes / rows }
  },
}

/** One database for all samples: each scenario begins with an empty table. */
async function open({ server }: Bench) {
  const database = await server.database(qRetry.contender)
  const connection = connect(database.url, { purpose: 'exchange', quiet: true })
  return {
    connection,
    async [Symbol.asyncDispose]() {
      await connection.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
