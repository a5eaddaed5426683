/**
 * The verbs inside a transaction that somebody else began, with whatever library: all that is asked of it is to send one
 * statement. What the verbs get is a Kysely transaction, so they behave as in any other: several statements are one
 * because the caller's transaction is, and what must come after a commit (the promotion of keyed runs, a wake) is left to
 * the database's own trigger and to the replicas.
 *
 * Law: nothing is begun, committed, rolled back, released or ended here. And where a library can tell that its handle is
 * in no transaction, that is said before anything is sent (no-transaction.ts).
 *
 * Libraries differ in how they write and read values. So the statements that producers send take text, numbers and
 * lists, which are sent as the text PostgreSQL reads, and answer in text and small numbers, which all of them read alike.
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
import { createTurns } from '../in-turn.ts'

/** One statement, on the caller's transaction; its rows. */
export type Send = (text: string, values: readonly unknown[]) => Promise<Answer>

export interface Answer {
  readonly rows: readonly unknown[]
  readonly rowCount?: number | null
}

export function borrowed(handle: object, send: Send): Transaction<DB> {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { rows, rowCount } = await inTurn(handle, () => send(sql, parameters))
      return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
    },
    streamQuery() {
      throw new Error('No verb of the store reads by cursor.')
    },
  }
  const provider = { provideConnection: <T>(work: (own: DatabaseConnection) => Promise<T>) => work(connection) }
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), provider)
  return new Transaction<DB>({ config: { dialect }, driver: dialect.createDriver(), dialect, executor })
}

/** A transaction is one connection: of what is asked for at once, one statement at a time is sent. */
const inTurn = createTurns()

/** Its driver is never asked for a connection: a transaction has one. */
const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

/** Values that every library sends unchanged: lists become PostgreSQL's own text for them. */
export function plainValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? listText(value) : value))
}

function listText(items: readonly (string | number | boolean | null | undefined)[]): string {
  const texts = items.map((item) =>
    item === null || item === undefined ? 'NULL' : `"${String(item).replaceAll(/[\\"]/g, String.raw`\$&`)}"`,
  )
  return `{${texts.join(',')}}`
}

/** Some libraries answer with the rows, some with an object that has them. */
export function answerOf(result: unknown): Answer {
  if (Array.isArray(result)) return { rows: result }
  const rows: unknown = Reflect.get(Object(result), 'rows')
  if (Array.isArray(rows)) return { rows }
  throw new Error('The library of this transaction answered a statement with no rows, and not even with none.')
}
