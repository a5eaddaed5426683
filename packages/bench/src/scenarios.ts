/** Lives of runs, each step a verb of the store, as a replica would take them. */
import { createStore, type ClaimedRun, type Connection, type NewRun, type Settlement, type Store } from '@q/store'
import { sql } from 'kysely'
import { drainBare } from './bare-updates.ts'
import { metered, type Spent } from './server-meter.ts'

export interface Scenario {
  readonly name: string
  /** Per run. Set by measurement of a prototype (issue 3). */
  readonly aim?: Spent
  run(bench: Bench): Promise<Spent>
}

export interface Bench {
  readonly connection: Connection
  readonly rows: number
  readonly batch: number
}

const bulk = 1_000
const task = 'bench'
/** With quotes and braces 200 bytes as JSON. */
const payload = { text: 'x'.repeat(189) }
const replica = { replicaId: 'bench-replic', tasks: [task], queues: [] }
const by = { hostname: 'host', pid: 1, thread: 0 }

export const scenarios: readonly Scenario[] = [
  {
    name: 'yardstick: the same updates, bare',
    async run(bench) {
      await withBacklog(bench)
      return metered(bench.connection.db, () => drainBare(bench))
    },
  },
  {
    name: 'enqueue, 1000 at a time',
    async run({ connection, rows }) {
      const lane = await emptied(connection)
      return metered(connection.db, () => enqueue(createStore(connection.db), rows, () => ({ task, lane, payload })))
    },
  },
  {
    name: 'claim and start, settle',
    aim: { cpuUs: 30, walBytes: 1150 },
    async run(bench) {
      const store = await withBacklog(bench)
      return metered(bench.connection.db, () => drain(bench, () => store.claimAvailableTaskRuns(wish(bench)), store))
    },
  },
  {
    name: 'claim ahead, start, settle',
    aim: { cpuUs: 38, walBytes: 1300 },
    async run(bench) {
      const store = await withBacklog(bench)
      const claimAndStart = async () => {
        const claimed = await store.claimAvailableTaskRuns({ ...wish(bench), ahead: true })
        await store.startTaskRuns(claimed)
        return claimed
      }
      return metered(bench.connection.db, () => drain(bench, claimAndStart, store))
    },
  },
  {
    name: 'claim and start, settle, each promoting a successor',
    async run(bench) {
      // Two batches of keys: while one is settled and promotes, the other can be claimed.
      const keys = bench.batch * 2
      const store = await withBacklog(bench, (number) => ({ concurrency: { scope: task, key: `${number % keys}` } }))
      return metered(bench.connection.db, () => drain(bench, () => store.claimAvailableTaskRuns(wish(bench)), store))
    },
  },
]

function wish({ batch }: Bench) {
  return { ...replica, limit: batch }
}

async function withBacklog({ connection, rows }: Bench, options: (number: number) => Partial<NewRun> = () => ({})) {
  const lane = await emptied(connection)
  const store = createStore(connection.db)
  await enqueue(store, rows, (number) => ({ task, lane, payload, ...options(number) }))
  await sql`ANALYZE q.task_run`.execute(connection.db)
  return store
}

/** No runs of the scenario before, and nobody but us who writes. */
async function emptied({ db }: Connection): Promise<number> {
  await sql`TRUNCATE q.task_run, q.task_attempt, q.task_heartbeat`.execute(db)
  await sql`ALTER TABLE q.task_run SET (autovacuum_enabled = false)`.execute(db)
  return createStore(db).internLane({ queue: 'default', task })
}

async function enqueue(store: Store, rows: number, run: (number: number) => NewRun): Promise<void> {
  for (let first = 0; first < rows; first += bulk) {
    const count = Math.min(bulk, rows - first)
    await store.enqueueTaskRuns(Array.from({ length: count }, (_, index) => run(first + index)))
  }
}

async function drain({ rows }: Bench, claim: () => Promise<ClaimedRun[]>, store: Store): Promise<void> {
  let settled = 0
  for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
    const answers = await store.settleTaskRuns(claimed.map(succeeded))
    settled += answers.filter((answer) => answer === 'settled').length
  }
  if (settled !== rows) throw new Error(`${settled} of ${rows} runs were settled.`)
}

function succeeded({ runId, fence }: ClaimedRun): Settlement {
  return { lease: { runId, fence }, outcome: { status: 'SUCCEEDED', result: '1' }, by }
}
