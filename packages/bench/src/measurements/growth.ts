/** Measures whether a claim becomes slower when the table is full of runs that it does not take. */
import { connect, createClaimer, createStore, type Connection } from '@q/store'
import { queryRows } from '../machine/database.ts'
import { median } from '../report/statistics.ts'
import { qRetry } from './entrants.ts'
import { emptyTable, shapes, type Shape } from './growth-shapes.ts'
import type { Bench, Measurement } from './measurement.ts'

const claimSize = 100
const claims = 20
const task = 'claimed'

export const growth: Measurement = {
  name: 'growth',
  title: 'A claim of 100 with large tables',
  method: `The time of one claim of ${claimSize} runs, on the connection that a replica claims with; the median of ${claims} claims. Each table
also holds runs that the claim does not take.`,
  entrants: shapes.map(({ label }) => ({ ...qRetry, label })),
  figures: [{ key: 'claimMs', title: 'claim of 100, ms', better: 'less', plotted: true }],
  long: true,
  async sample(bench, { label }) {
    const shape = shapes.find((each) => each.label === label) ?? emptyTable
    const table = await bench.keep(`growth ${label}`, () => fill(bench, shape))
    return { claimMs: await claimOften(table) }
  },
}

interface FilledTable extends AsyncDisposable {
  readonly url: string
  readonly connection: Connection
  readonly lane: number
}

async function fill({ server, sizes }: Bench, shape: Shape): Promise<FilledTable> {
  const database = await server.database(qRetry.contender)
  const connection = connect(database.url, { purpose: 'exchange', quiet: true })
  const lane = await createStore(connection.db).internLane({ queue: 'default', task })
  const snapshot = await shape.fill(database.url, { lane, task, rows: sizes.tableRows })
  return {
    url: database.url,
    connection,
    lane,
    async [Symbol.asyncDispose]() {
      await snapshot?.close()
      await connection.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

async function claimOften({ url, connection, lane }: FilledTable): Promise<number> {
  const store = createStore(connection.db)
  const run = { task, lane, payload: {} }
  for (let bulk = 0; bulk < claims; bulk += 10) {
    const left = Math.min(10, claims - bulk)
    await store.enqueueTaskRuns(Array.from({ length: left * claimSize }, () => run))
  }
  const claimer = createClaimer({ replicaId: 'bench-replic', tasks: [task], queues: [] })
  await claimer.refresh(connection.db)
  const tookMs: number[] = []
  for (let claim = 0; claim < claims; claim++) {
    const begunMs = performance.now()
    const { length } = await claimer.claim(connection.db, claimSize)
    tookMs.push(performance.now() - begunMs)
    if (length !== claimSize) throw new Error(`A claim of ${claimSize} runs got ${length}.`)
  }
  await queryRows(url, `DELETE FROM q.task_run WHERE held AND replica_id = 'bench-replic'`)
  return median(tookMs)
}
