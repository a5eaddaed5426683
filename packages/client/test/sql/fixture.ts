/** Two ways to enqueue on one database: q.enqueue() of SQL and the client, and what either of them made. */
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { queue, type EnqueueOptions } from '@q/client'
import { connect, createStore, type Db, type Store } from '@q/store'
import { optionData, type Task, type TaskOptions } from '@q/task'
import { testDatabase } from '@q/testing'

export interface Answer {
  readonly id: string
  readonly status: string
  readonly duplicate: boolean
}

export interface SqlFixture {
  readonly url: string
  readonly db: Db
  readonly store: Store
  readonly client: Client
  /** One more. */
  session(): Promise<Client>
  /** Resolves when another session waits for a lock of this session's transaction: from then on a race can be arranged. */
  untilWaitedFor(holder: Client): Promise<void>
  /** By SQL: what stands between the parentheses. */
  enqueue(call: string, values?: unknown[], own?: Client): Promise<Answer>
  enqueueByClient(task: string, payload: unknown, options?: EnqueueOptions): Promise<Omit<Answer, 'status'>>
  publish(name: string, options: TaskOptions, payloadSchema?: Record<string, unknown>): Promise<void>
  /** All that a producer decides, and nothing that the moment does. */
  made(id: string): Promise<unknown>
}

const looksMax = 2_000

export async function fixture(): Promise<SqlFixture> {
  const database = await testDatabase()
  const connection = connect(database.url, { purpose: 'pool' })
  const store = createStore(connection.db)
  const sessions: Client[] = []
  async function session(): Promise<Client> {
    const own = new Client({ connectionString: database.url })
    await own.connect()
    sessions.push(own)
    return own
  }
  const client = await session()
  afterAll(async () => {
    for (const own of sessions) await own.end()
    await connection.close()
    await database.drop()
  })

  return {
    url: database.url,
    db: connection.db,
    store,
    client,
    session,
    async untilWaitedFor(holder) {
      const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      for (let look = 0; look < looksMax; look++) {
        const waiting = await client.query(
          'SELECT FROM pg_stat_activity WHERE datname = current_database() AND $1 = ANY (pg_blocking_pids(pid))',
          [rows[0]!.pid],
        )
        if (waiting.rowCount !== 0) return
        await client.query('SELECT pg_sleep(0.01)')
      }
      throw new Error('No session waited for the lock.')
    },
    async enqueue(call, values = [], own = client) {
      const { rows } = await own.query<Answer>(`SELECT * FROM q.enqueue(${call})`, values)
      return rows[0]!
    },
    // A client of its own: one that is older may remember what the task said before.
    async enqueueByClient(task, payload, options = {}) {
      const q = queue<Record<string, Task<unknown>>>(database.url)
      const { id, duplicate } = await q.enqueue(task, payload, options)
      await q.close()
      return { id, duplicate }
    },
    async publish(name, options, payloadSchema) {
      const data = optionData(options)
      await store.publishTasks('r', [{ name, queue: data.queue, options: data, payloadSchema: payloadSchema ?? null }])
    },
    async made(id) {
      const { rows } = await client.query(
        `SELECT l.queue, l.task AS lane_task, l.requires, r.task, r.priority, r.grp, r.max_attempts, r.on_crash, r.status, r.waiting_for,
          r.unique_key, r.concurrency_scope, r.concurrency_key, r.timeout_ms, r.max_silent_ms, r.trace, r.payload, r.attempt, r.fence,
          round(extract(epoch FROM r.expires_at - r.created_at) / 60) AS expires, round(extract(epoch FROM r.run_at - r.created_at) / 60) AS minutes,
          (SELECT d.debounce_key FROM q.debounce d WHERE d.run_id = r.id) AS debounce_key, p.unique_key AS period_key,
          round(extract(epoch FROM p.until - r.created_at) / 60) AS period
        FROM q.task_run r JOIN q.lane l ON l.id = r.lane LEFT JOIN q.unique_period p ON p.run_id = r.id WHERE r.id = $1`,
        [id],
      )
      return rows[0]
    },
  }
}
