/**
 * The transactions per second of idle replicas, as `pg_stat_database` counts them. The benchmark adds one replica after
 * the other, so the difference is the cost of each: the first has every duty, the second is the deputy of the
 * watch, and every further one has none.
 */
import { setTimeout as passing } from 'node:timers/promises'
import { readConfig, startRunner, type Runner } from '@q/runner'
import { connect, type Connection } from '@q/store'
import { sql } from 'kysely'

export interface IdleCost {
  readonly replicas: number
  /** Of all replicas together. */
  readonly perSecond: number
}

export interface IdleOptions {
  readonly replicasMax: number
  /** How long the benchmark waits before it measures a fleet, and how long it measures. */
  readonly settleMs: number
  readonly measureMs: number
}

/** One figure for each size of the fleet. `databaseUrl`: migrated, and used by no other program. */
export async function benchIdle(
  databaseUrl: string,
  { replicasMax, settleMs, measureMs }: IdleOptions,
  onCost: (cost: IdleCost) => void = () => {},
): Promise<IdleCost[]> {
  const connection = connect(databaseUrl, { purpose: 'control' })
  const runners: Runner[] = []
  try {
    const costs: IdleCost[] = []
    while (runners.length < replicasMax) {
      runners.push(await startIdle(databaseUrl, runners.length))
      await passing(settleMs)
      costs.push({ replicas: runners.length, perSecond: await transactionRate(connection, measureMs) })
      onCost(costs.at(-1) as IdleCost)
    }
    return costs
  } finally {
    await Promise.all(runners.map((runner) => runner.drain()))
    await connection.close()
  }
}

function startIdle(databaseUrl: string, index: number): Promise<Runner> {
  return startRunner({
    databaseUrl,
    config: readConfig({ Q_THREADS: '1', Q_NAME: `idle-${index}` }),
    version: 'bench',
    taskModules: [new URL(`./heartbeat-task${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href],
    observe: () => {},
  })
}

async function transactionRate({ db }: Connection, measureMs: number): Promise<number> {
  const begunMs = performance.now()
  const before = await transactions(db)
  await passing(measureMs)
  const after = await transactions(db)
  // The second of our own two reads counts the first.
  return ((after - before - 1) * 1_000) / (performance.now() - begunMs)
}

async function transactions(db: Connection['db']): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT (xact_commit + xact_rollback)::float8 AS count
    FROM pg_stat_database WHERE datname = current_database()`.execute(db)
  return rows[0]?.count ?? 0
}
