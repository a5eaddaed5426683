/**
 * The verbs inside a transaction that the caller began with any library: the library only has to send one statement.
 * The verbs get a Kysely transaction, so they behave as in any other. Work that must follow the commit (the promotion
 * of keyed runs, a wake) is left to the trigger in the database and to the replicas.
 *
 * Invariant: nothing here begins, commits, rolls back, releases or closes. If a library can tell that its handle is not
 * in a transaction, an error says so before anything is sent (no-transaction.ts).
 *
 * Libraries differ in how they write and read values. So the statements of producers, and those that end a run, take text,
 * numbers and lists, which are sent as PostgreSQL text, and return text and small numbers, which all libraries read the
 * same way. Ids may also be bigint or number: they are compared only with ids that the same transaction returned.
 */
import type { DB } from '@q/schema'
import {
  DefaultQueryExecutor,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  Transaction,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { createSerializer } from '../connection/serialize.ts'

/** Sends one statement on the caller's transaction and returns its rows. */
export type SendStatement = (text: string, values: readonly unknown[]) => Promise<DriverResult>

export interface DriverResult {
  readonly rows: readonly unknown[]
  readonly rowCount?: number | null
}

export function wrapCallerTransaction(handle: object, send: SendStatement): Transaction<DB> {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { rows, rowCount } = await serialize(handle, () => send(sql, parameters))
      return { rows: rows.map(withTextIds) as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
    },
    streamQuery() {
      throw new Error('No verb of the store reads by cursor.')
    },
  }
  const provider = { provideConnection: <T>(work: (own: DatabaseConnection) => Promise<T>) => work(connection) }
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), provider)
  return new Transaction<DB>({ config: { dialect }, driver: dialect.createDriver(), dialect, executor })
}

/** Ids are text here. */
function withTextIds(row: unknown): unknown {
  const entries: [string, unknown][] = Object.entries(Object(row))
  if (!entries.some(([, value]) => typeof value === 'bigint')) return row
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]))
}

/** A transaction has one connection: concurrent calls send one statement at a time. */
const serialize = createSerializer()

/** Its driver never requests a connection, because the transaction has one. */
const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

/** Returns values that every library sends unchanged: lists become PostgreSQL text. */
export function plainValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? listText(value) : value))
}

function listText(items: readonly (string | number | boolean | null | undefined)[]): string {
  const texts = items.map((item) =>
    item === null || item === undefined ? 'NULL' : `"${String(item).replaceAll(/[\\"]/g, String.raw`\$&`)}"`,
  )
  return `{${texts.join(',')}}`
}

/** Some libraries return the rows, some an object that contains them. */
export function driverResultOf(result: unknown): DriverResult {
  if (Array.isArray(result)) return { rows: result }
  const rows: unknown = Reflect.get(Object(result), 'rows')
  if (Array.isArray(rows)) return { rows }
  throw new Error('The library of this transaction returned neither rows nor an empty list.')
}
