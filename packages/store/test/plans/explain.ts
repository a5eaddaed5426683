/**
 * What a statement really did, as PostgreSQL counts it: executed under EXPLAIN ANALYZE and rolled back.
 *
 * Prepared and executed by name, because that alone shows generic plans; so the parameters are written as literals.
 */
import { escapeLiteral, type Client } from 'pg'
import type { CompiledQuery } from 'kysely'

/** Planned for its parameters, as a statement without a name is; or once for any, as a named one comes to be. */
export type PlanMode = 'force_custom_plan' | 'force_generic_plan'

/**
 * What a connection must set before it may keep plans: one that was made while the table was small stays for as long
 * as the table is not analysed, and on a small table a sequential scan is cheapest.
 */
export const pins: readonly string[] = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin']

export interface Effort {
  /** Ways to q.task_run: indexes, and kinds of scan that use none. */
  readonly scans: readonly string[]
  /** Rows of q.task_run that were looked at, also those that a filter threw away. */
  readonly rows: number
  /** Pages of 8 kB, of all tables and indexes. */
  readonly pages: number
  /** Pairs that joins looked at and threw away. */
  readonly pairsInVain: number
}

export async function prepare(client: Client, name: string, { sql }: CompiledQuery): Promise<void> {
  await client.query(`PREPARE ${name} AS ${sql}`)
}

export async function explain(
  client: Client,
  name: string,
  { parameters }: CompiledQuery,
  mode: PlanMode,
): Promise<Effort> {
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL plan_cache_mode = ${mode}`)
    const args = parameters.length === 0 ? '' : `(${parameters.map(literal).join(', ')})`
    const { rows } = await client.query<{ 'QUERY PLAN': [Explained] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE ${name} ${args}`,
    )
    return effortOf(rows[0]!['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('ROLLBACK')
  }
}

export interface Explained {
  readonly Plan: PlanNode
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

function effortOf(plan: PlanNode): Effort {
  const scans = nodesOf(plan).filter((node) => node['Node Type'].endsWith('Scan') && isOfRuns(node))
  return {
    scans: [...new Set(scans.map((node) => node['Index Name'] ?? node['Node Type']))].toSorted(),
    rows: Math.round(scans.reduce((sum, node) => sum + rowsOf(node), 0)),
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    pairsInVain: pairsInVainOf(plan),
  }
}

export function pairsInVainOf(plan: PlanNode): number {
  return nodesOf(plan).reduce((sum, node) => sum + pairsOf(node), 0)
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** A bitmap is counted where it is made, and there only the index has a name; ours are named after their table. */
function isOfRuns(node: PlanNode): boolean {
  if (node['Node Type'] === 'Bitmap Heap Scan') return false
  return node['Relation Name'] === 'task_run' || (node['Index Name']?.startsWith('task_run_') ?? false)
}

function rowsOf(node: PlanNode): number {
  const thrownAway = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + thrownAway) * node['Actual Loops']
}

function pairsOf(node: PlanNode): number {
  return (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops']
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  return escapeLiteral(Array.isArray(value) ? `{${value.map(element).join(',')}}` : plain(value))
}

function element(value: unknown): string {
  return value === null ? 'NULL' : `"${plain(value).replaceAll(/["\\]/g, '\\$&')}"`
}

function plain(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return `${value}`
  throw new Error(`Not a parameter that a hot statement has: ${typeof value}.`)
}
