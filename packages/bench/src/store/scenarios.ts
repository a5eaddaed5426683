/** Scenarios: the steps of runs as verbs of the store, in the order in which a replica calls them. */
import {
  createClaimer,
  createStore,
  exchangeWork,
  type ClaimedRun,
  type Claimer,
  type Connection,
  type Finish,
  type NewRun,
  type Settlement,
  type Store,
} from '@q/store'
import { sql } from 'kysely'
import { drainBare } from './bare-updates.ts'
import { metered, type ServerUsage } from './server-meter.ts'

export interface Scenario {
  readonly name: string
  run(bench: StoreBench): Promise<ServerUsage>
}

export interface StoreBench {
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
    name: 'an exchange: finish, claim and start',
    run: (bench) => drained(bench, {}, exchangeAll),
  },
  {
    name: 'an exchange: finish, start, prefetch',
    run: (bench) => drained(bench, {}, exchangePrefetched),
  },
  {
    name: '… of 100 groups',
    run: (bench) => drained(bench, { run: (number) => ({ group: `group ${number % 100}` }) }, exchangeAll),
  },
  {
    name: '… each awaited',
    run: (bench) => drained(bench, { prepare: awaitAll }, exchangeAll),
  },
  {
    name: '… each reported to a destination',
    run: (bench) => drained(bench, { prepare: addDestination }, exchangeAll),
  },
  {
    name: 'claim and start, settle: apart',
    run: (bench) => drained(bench, {}, settleSeparately),
  },
  {
    name: 'claim and start, fail',
    run: (bench) => drained(bench, {}, (one, claimer) => settleSeparately(one, claimer, failed)),
  },
  {
    name: 'claim and start, settle, each promoting a successor',
    // Two batches of keys: while one is settled and promotes, the other can be claimed.
    run: (bench) =>
      drained(
        bench,
        { run: (number) => ({ concurrency: { scope: task, key: `${number % (bench.batch * 2)}` } }) },
        settleSeparately,
      ),
  },
]

interface Backlog {
  readonly run?: (number: number) => Partial<NewRun>
  readonly prepare?: (bench: StoreBench) => Promise<void>
}

/** Returns the number of runs that ended. */
type DrainMethod = (bench: StoreBench, claimer: Claimer) => Promise<number>

async function drained(bench: StoreBench, { run, prepare }: Backlog, way: DrainMethod): Promise<ServerUsage> {
  await withBacklog(bench, run)
  await prepare?.(bench)
  const spent = await metered(bench.connection.db, async () => {
    const ended = await way(bench, createClaimer(replica))
    if (ended !== bench.rows) throw new Error(`${ended} of ${bench.rows} runs came to their end.`)
  })
  await sql`DELETE FROM q.destination`.execute(bench.connection.db)
  return spent
}

/** Each exchange finishes the runs that the previous one claimed. */
async function exchangeAll({ connection, batch }: StoreBench, claimer: Claimer): Promise<number> {
  let ended = 0
  let held: readonly ClaimedRun[] = []
  do {
    const exchange = { finishes: held.map(finishOf), starts: [], claim: batch, prefetch: 0 }
    const { finished, claimed } = await exchangeWork(connection, claimer, exchange)
    ended += finished.length
    held = claimed
  } while (held.length > 0)
  return ended
}

/** Runs prefetched in one exchange are started in the next and finished in the one after that. */
async function exchangePrefetched({ connection, batch }: StoreBench, claimer: Claimer): Promise<number> {
  let ended = 0
  let running: readonly ClaimedRun[] = []
  let held: readonly ClaimedRun[] = []
  do {
    const exchange = { finishes: running.map(finishOf), starts: held, claim: 0, prefetch: batch }
    const { finished, prefetched, more } = await exchangeWork(connection, claimer, exchange)
    await more
    ended += finished.length
    running = held
    held = prefetched
  } while (held.length + running.length > 0)
  return ended
}

async function settleSeparately(
  { connection: { db }, batch }: StoreBench,
  claimer: Claimer,
  outcomeOf = succeeded,
): Promise<number> {
  const store = createStore(db)
  let ended = 0
  for (;;) {
    if (claimer.exhausted) await claimer.refresh(db)
    const claimed = await claimer.claim(db, batch)
    if (claimed.length === 0) return ended
    const answers = await store.settleTaskRuns(claimed.map(outcomeOf))
    ended += answers.filter((answer) => answer === 'settled').length
  }
}

async function awaitAll({ connection: { db } }: StoreBench): Promise<void> {
  await sql`INSERT INTO q.awaited SELECT id FROM q.task_run`.execute(db)
}

async function addDestination({ connection: { db } }: StoreBench): Promise<void> {
  await sql`INSERT INTO q.destination (name, kind, news) VALUES ('bench', 'webhook', '{run-ended}')`.execute(db)
}

async function withBacklog(
  { connection, rows }: StoreBench,
  options: (number: number) => Partial<NewRun> = () => ({}),
) {
  const lane = await emptied(connection)
  const store = createStore(connection.db)
  await enqueue(store, rows, (number) => ({ task, lane, payload, ...options(number) }))
  await sql`ANALYZE q.task_run`.execute(connection.db)
}

/** Removes the runs of the previous scenario and checks that no other session writes. */
async function emptied({ db }: Connection): Promise<number> {
  await sql`TRUNCATE q.task_run, q.task_attempt, q.task_heartbeat, q.awaited, q.delivery`.execute(db)
  await sql`ALTER TABLE q.task_run SET (autovacuum_enabled = false)`.execute(db)
  return createStore(db).internLane({ queue: 'default', task })
}

async function enqueue(store: Store, rows: number, run: (number: number) => NewRun): Promise<void> {
  for (let first = 0; first < rows; first += bulk) {
    const count = Math.min(bulk, rows - first)
    await store.enqueueTaskRuns(Array.from({ length: count }, (_, index) => run(first + index)))
  }
}

function finishOf({ runId, fence }: ClaimedRun): Finish {
  return { lease: { runId, fence }, result: '1', by }
}

function succeeded({ runId, fence }: ClaimedRun): Settlement {
  return { lease: { runId, fence }, outcome: { status: 'SUCCEEDED', result: '1' }, by }
}

function failed({ runId, fence }: ClaimedRun): Settlement {
  return { lease: { runId, fence }, outcome: { status: 'FAILED', code: 'TASK_ERROR', detail: 'by design' }, by }
}
