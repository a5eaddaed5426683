/**
 * Sends several statements in one round trip and one implicit transaction: Bind and Execute for each, one Sync for all.
 * Each has its own snapshot, so a later one sees what an earlier one wrote; an error in any rolls back all.
 *
 * A Submittable of `pg`, like its cursors. Named statements are prepared first, in a separate round trip: after an error
 * in the middle the client could not tell which names the server knows.
 */
import type { CompiledQuery } from 'kysely'
import type { Client, Connection as Wire, FieldDef, PoolClient } from 'pg'
import { pgTypeParsers } from './pg-type-parsers.ts'

export interface NamedQuery {
  readonly query: CompiledQuery
  /** Kept by the server under this name; undefined: parsed each time. */
  readonly name: string | undefined
}

/** Returns the rows of each, in the order given. */
export async function pipeline(client: PoolClient, queries: readonly NamedQuery[]): Promise<unknown[][]> {
  const ready = queries.map(({ query, name = '' }) => ({
    name,
    text: query.sql,
    values: query.parameters.map(wireText),
  }))
  for (const query of queries) await learn(client, query)
  return submitted(client, (wire) => {
    for (const { name, text, values } of ready) {
      if (name === '') wire.parse({ name, text, types: [] }, true)
      wire.bind({ statement: name, values }, true)
      wire.describe({ type: 'P' }, true)
      wire.execute(null, true)
    }
  })
}

/** Resolves when the server has answered a bare Sync: the backend is alive. Begins no transaction. */
export async function ping(client: Client): Promise<void> {
  await submitted(client, () => {})
}

const learntBy = new WeakMap<PoolClient, Set<string>>()

async function learn(client: PoolClient, { name, query }: NamedQuery): Promise<void> {
  const learnt = learntBy.get(client) ?? new Set()
  learntBy.set(client, learnt)
  if (name === undefined || learnt.has(name)) return
  await submitted(client, (wire) => wire.parse({ name, text: query.sql, types: [] }, true))
  learnt.add(name)
}

/** Sends the messages of `send`, then Sync; resolves when the server is ready again. */
function submitted(client: Client | PoolClient, send: (wire: Wire) => void): Promise<unknown[][]> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown[][]>()
  const results: unknown[][] = []
  let read: RowReader = () => ({})
  let rows: unknown[] = []
  const exchange = {
    submit(wire: Wire) {
      wire.stream.cork()
      send(wire)
      wire.sync()
      wire.stream.uncork()
    },
    handleRowDescription({ fields }: { fields: FieldDef[] }) {
      read = rowReader(fields)
    },
    handleDataRow({ fields }: { fields: (string | null)[] }) {
      rows.push(read(fields))
    },
    handleCommandComplete() {
      results.push(rows)
      rows = []
    },
    handleReadyForQuery: () => exchange.callback(null),
    handleError: (error: Error) => exchange.callback(error),
    /** `pg` wraps its query timeout around this callback. */
    callback: (error: Error | null) => (error === null ? resolve(results) : reject(error)),
  }
  client.query(exchange)
  return promise
}

type RowReader = (values: readonly (string | null)[]) => Record<string, unknown>

function rowReader(fields: readonly FieldDef[]): RowReader {
  const parserOf = pgTypeParsers.getTypeParser as (oid: number, format: 'text') => (text: string) => unknown
  const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID, 'text') }))
  // Once per row of a large batch: no iterator, and every row gets its columns in the same order.
  return (values) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) {
      const { name, parse } = columns[index] as (typeof columns)[number]
      const value = values[index] ?? null
      row[name] = value === null ? null : parse(value)
    }
    return row
  }
}

/** As text: our statements take text, numbers, booleans, null, and arrays of them. */
function wireText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(element).join(',')}}` : plain(value)
}

function element(value: unknown): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `"${plain(value).replaceAll(/["\\]/g, '\\$&')}"`
}

function plain(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError(`A pipelined statement has a parameter that is ${typeof value}.`)
}
