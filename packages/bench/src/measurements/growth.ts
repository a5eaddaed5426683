/** Measures whether a claim becomes slower when the table is full of runs that it does not take. */
import { connect, createClaimer, createStore, exchangeWork, type Connection } from '@q/store'
import { queryRows } from '../machine/database.ts'
import { median } from '../report/statistics.ts'
import { qRetry } from './entrants.ts'
import { emptyTable, shapes, type Shape } from './growth-shapes.ts'
import type { Bench, Figures, Measurement } from './measurement.ts'

const claimSize = 100
const claims = 20
const looks = 3
const task = 'claimed'
const onlyClaim = { finishes: [], starts: [], claim: claimSize, prefetch: 0 }

export const growth: Measurement = {
  name: 'growth',
  title: 'A claim of 100 with large tables',
  method: `The time of one exchange that claims ${claimSize} runs, as a replica with a backlog sends it; the median of ${claims}. Each table
also holds runs that the claim does not take. Beside it the time of a look at what is ready, which a replica sends every second while it has a
backlog, and when it is woken; the median of ${looks}.`,
  entrants: shapes.map(({ label }) => ({ ...qRetry, label })),
  figures: [
    { key: 'claimMs', title: 'claim of 100, ms', better: 'less', plotted: true },
    { key: 'lookMs', title: 'look at what is ready, ms', better: 'less' },
  ],
  long: true,
  async sample(bench, { label }) {
    const shape = shapes.find((each) => each.label === label) ?? emptyTable
    const table = await bench.keep(`growth ${label}`, () => fill(bench, shape))
    return await claimOften(table)
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

async function claimOften({ url, connection, lane }: FilledTable): Promise<Figures> {
  const store = createStore(connection.db)
  const run = { task, lane, payload: {} }
  for (let bulk = 0; bulk < claims; bulk += 10) {
    const left = Math.min(10, claims - bulk)
    await store.enqueueTaskRuns(Array.from({ length: left * claimSize }, () => run))
  }
  const claimer = createClaimer({ replicaId: 'bench-replic', tasks: [task], queues: [] })
  const lookMs: number[] = []
  for (let look = 0; look < looks; look++) lookMs.push(await timed(() => claimer.refresh(connection.db)))
  const claimMs: number[] = []
  for (let claim = 0; claim < claims; claim++) {
    claimMs.push(
      await timed(async () => {
        const { claimed } = await exchangeWork(connection, claimer, onlyClaim)
        if (claimed.length !== claimSize) throw new Error(`A claim of ${claimSize} runs got ${claimed.length}.`)
      }),
    )
  }
  await queryRows(url, `DELETE FROM q.task_run WHERE held AND replica_id = 'bench-replic'`)
  return { claimMs: median(claimMs), lookMs: median(lookMs) }
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begunMs = performance.now()
  await act()
  return performance.now() - begunMs
}
