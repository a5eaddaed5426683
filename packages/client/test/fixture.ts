/** A database of its own, a replica without threads, and a pool that counts what is sent through it. */
import { sql } from 'kysely'
import { Pool, type Client } from 'pg'
import { afterAll } from 'vitest'
import { connect, createStore, type Connection, type Outcome, type Store } from '@q/store'
import { testDatabase } from '@q/testing'

export interface Fixture {
  readonly url: string
  readonly connection: Connection
  readonly store: Store
  /** What a replica does, without its threads: claims and settles until so many have ended. */
  settle(outcome: Outcome, count?: number): Promise<void>
  /** Sessions of that name in this database. */
  sessions(name: string): Promise<number>
  runs(): Promise<number>
  countingPool(): CountingPool
}

export interface CountingPool {
  readonly pool: Pool
  /** What was sent, in order; `taken` empties it. */
  taken(): string[]
}

/** Tasks that a replica has published without options. */
const plainTasks = ['hello', 'once', 'resize', 'charge', 'slow', 'undone', 'images.thumbnail']

function plainNotice(name: string) {
  return { name, queue: 'default', options: {}, payloadSchema: null }
}

export async function fixture(): Promise<Fixture> {
  const database = await testDatabase()
  const connection = connect(database.url, { purpose: 'pool' })
  const store = createStore(connection.db)
  await store.publishTasks('r', plainTasks.map(plainNotice))
  const pools: Pool[] = []
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await connection.close()
    await database.drop()
  })

  async function settleSome(outcome: Outcome): Promise<number> {
    const names = await connection.db.selectFrom('q.task_run').select('task').distinct().execute()
    const tasks = names.map(({ task }) => task)
    const claimed = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks, queues: [], limit: 5_000 })
    const by = { hostname: 'h', pid: 1, thread: 0 }
    await store.settleTaskRuns(claimed.map(({ runId, fence }) => ({ lease: { runId, fence }, outcome, by })))
    return claimed.length
  }

  return {
    url: database.url,
    connection,
    store,
    async settle(outcome, count = 1) {
      for (let settled = 0; settled < count;) settled += await settleSome(outcome)
    },
    async sessions(name) {
      const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE application_name = ${name} AND datname = current_database()`.execute(connection.db)
      return rows[0]!.count
    },
    async runs() {
      const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM q.task_run`.execute(
        connection.db,
      )
      return rows[0]!.count
    },
    countingPool() {
      const pool = ownPool(database.url, 4)
      pools.push(pool)
      let sent: string[] = []
      pool.on('connect', (client: Client) => {
        const query = client.query.bind(client) as (config: { text: string }) => Promise<never>
        client.query = ((config: { text: string }) => {
          sent.push(config.text)
          return query(config)
        }) as unknown as Client['query']
      })
      return {
        pool,
        taken() {
          const all = sent
          sent = []
          return all
        },
      }
    },
  }
}

/** A pool as programs have it. It alone gets the error of an idle connection that breaks. */
export function ownPool(url: string, max: number): Pool {
  return new Pool({ connectionString: url, max }).on('error', () => {})
}
