/**
 * The verbs inside a transaction that somebody else began on a client of `pg`: enqueueTaskRuns(usingPg(client), runs).
 *
 * The client is borrowed: it is never connected, released or ended, and no BEGIN, COMMIT or ROLLBACK is sent. What the
 * verbs get is a Kysely transaction, so they behave as in any other: several statements are one because the caller's
 * transaction is, and what must come after a commit (the promotion of keyed runs, a wake) is left to the database's own
 * trigger and to the replicas. So there must be a transaction: where the client can tell that there is none, it is said.
 *
 * The caller may have taught `pg` to read bigint as number; ids are text here all the same.
 */
import { ExplainedError, type DB } from '@q/schema'
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
import type { CustomTypesConfig } from 'pg'
import { ownTypes } from '../own-types.ts'

/** What is used of a `Client` or a `PoolClient`. */
export interface PgClient {
  query(query: {
    readonly text: string
    readonly values: unknown[]
    readonly types: CustomTypesConfig
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null; readonly command: string }>
  /** In newer versions of `pg`: I outside of a transaction, T inside, E inside one that failed. */
  getTransactionStatus?(): string | null
}

export function usingPg(client: PgClient): Transaction<DB> {
  const connection = borrowed(client)
  const adapter = dialect.createAdapter()
  const provider = { provideConnection: <T>(work: (own: DatabaseConnection) => Promise<T>) => work(connection) }
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), adapter, provider)
  return new Transaction<DB>({ config: { dialect }, driver: dialect.createDriver(), dialect, executor })
}

/** Its driver is never asked for a connection: a transaction has one. */
const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

function borrowed(client: PgClient): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      if (client.getTransactionStatus?.() === 'I') throw notInTransaction()
      const { rows, rowCount } = await client.query({ text: sql, values: [...parameters], types: ownTypes })
      return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
    },
    streamQuery() {
      throw new Error('No verb of the store reads by cursor.')
    },
  }
}

function notInTransaction(): ExplainedError {
  return new ExplainedError({
    code: 'NOT_IN_TRANSACTION',
    what: 'usingPg() was given a client that is in no transaction; nothing was done.',
    why: 'What the store writes is as durable as your transaction, and a verb may need more than one statement.',
    fix: "Await client.query('BEGIN') first, and COMMIT after it.",
  })
}
