/**
 * The rows that the statements of a read looked at. The statements are recorded while the read executes and then executed
 * again under EXPLAIN ANALYZE, planned for the same parameters.
 */
import { createStore, type Store } from '@q/store'
import type { DB } from '@q/schema'
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely'
import { Client, Pool } from 'pg'
import { pgTypeParsers } from '../../src/connection/pg-type-parsers.ts'
import { historyTables } from './fill-history.ts'

export interface ReadEffort {
  /** Whole scans of tables that grow with history. */
  readonly wholeScans: readonly string[]
  /** Rows of these tables that a scan looked at, including rows that a filter removed. */
  readonly rows: number
}

export async function readEffort(url: string, read: (store: Store) => Promise<unknown>): Promise<ReadEffort> {
  const efforts: ReadEffort[] = []
  const client = new Client({ connectionString: url, options: '-c jit=off' })
  await client.connect()
  try {
    for (const query of await statementsOf(url, read)) efforts.push(await explained(client, query))
  } finally {
    await client.end()
  }
  return {
    wholeScans: efforts.flatMap(({ wholeScans }) => wholeScans),
    rows: efforts.reduce((sum, { rows }) => sum + rows, 0),
  }
}

async function statementsOf(url: string, read: (store: Store) => Promise<unknown>): Promise<CompiledQuery[]> {
  const statements: CompiledQuery[] = []
  const pool = new Pool({ connectionString: url, max: 1, types: pgTypeParsers })
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ level, query }) => {
      if (level === 'query' && /^\s*(select|with)/i.test(query.sql)) statements.push(query)
    },
  })
  try {
    await read(createStore(db))
  } finally {
    await db.destroy()
  }
  return statements
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

async function explained(client: Client, { sql, parameters }: CompiledQuery): Promise<ReadEffort> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
    [...parameters],
  )
  const scans = nodesOf(rows[0]!['QUERY PLAN'][0].Plan).filter((node) =>
    historyTables.some((table) => table === node['Relation Name']),
  )
  return {
    wholeScans: scans
      .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
      .map((node) => `${node['Node Type']} of ${node['Relation Name']} in ${sql.slice(0, 200)}`),
    rows: Math.round(
      scans.reduce(
        (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      ),
    ),
  }
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
