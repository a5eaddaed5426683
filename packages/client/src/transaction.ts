/**
 * `options.tx`: the caller's transaction, in the caller's library. Its runs exist once the transaction commits; a rollback
 * removes them.
 *
 * Handles are recognised by their shape; none of these libraries is loaded here. A handle that is not a transaction is
 * rejected by the compiler where its type shows it, otherwise here, before anything is sent.
 */
import { ExplainedError } from '@q/schema'
import {
  usingDrizzle,
  usingKnex,
  usingKysely,
  usingPg,
  usingPostgresJs,
  usingPrisma,
  type Db,
  type DrizzleTransaction,
  type KnexTransaction,
  type KyselyTransaction,
  type PgClient,
  type PostgresJsTransaction,
  type PrismaTransaction,
} from '@q/store'

/** A transaction of pg, Kysely, Drizzle, postgres.js, Knex or Prisma. */
export type TransactionHandle =
  | PgClient
  | KyselyTransaction
  | DrizzleTransaction
  | PostgresJsTransaction
  | KnexTransaction
  | PrismaTransaction

/** A database handle for the store's verbs that uses the transaction of `tx`. */
export function storeIn(tx: TransactionHandle): Db {
  const known = libraries.find(({ isHandle }) => isHandle(tx))
  if (known === undefined) throw notInTransaction('tx is not a handle of a supported library')
  if (!known.isTransaction(tx)) throw notInTransaction(known.outside)
  return known.use(tx)
}

interface Library {
  /** Whether the value looks like a handle of this library. */
  readonly isHandle: (tx: TransactionHandle) => boolean
  /** Whether the handle is in a transaction, as far as its shape shows. */
  readonly isTransaction: (tx: TransactionHandle) => boolean
  readonly outside: string
  readonly use: (tx: TransactionHandle) => Db
}

const libraries: readonly Library[] = [
  {
    isHandle: (tx) => has(tx, 'getExecutor', 'withoutPlugins'),
    isTransaction: (tx) => member(tx, 'isTransaction') === true,
    outside: 'tx is a Kysely instance, not the trx of db.transaction().execute(async (trx) => …)',
    use: (tx) => usingKysely(tx as KyselyTransaction),
  },
  {
    isHandle: (tx) => has(tx, '$queryRawUnsafe'),
    isTransaction: (tx) => member(tx, '$connect') === undefined,
    outside: 'tx is a PrismaClient, not the tx of prisma.$transaction(async (tx) => …)',
    use: (tx) => usingPrisma(tx as PrismaTransaction),
  },
  {
    isHandle: (tx) => typeof tx === 'function' && has(tx, 'unsafe'),
    isTransaction: (tx) => has(tx, 'savepoint'),
    outside: 'tx is the sql of postgres.js, not the one of sql.begin(async (sql) => …)',
    use: (tx) => usingPostgresJs(tx as PostgresJsTransaction),
  },
  {
    isHandle: (tx) => typeof tx === 'function' && has(tx, 'raw'),
    isTransaction: (tx) => member(tx, 'isTransaction') === true && has(tx, 'isCompleted'),
    outside: 'tx is a Knex instance, not the trx of knex.transaction(async (trx) => …)',
    use: (tx) => usingKnex(tx as KnexTransaction),
  },
  {
    isHandle: (tx) => has(tx, 'execute', 'transaction'),
    isTransaction: (tx) => has(tx, 'rollback', 'setTransaction'),
    outside: 'tx is a Drizzle database, not the tx of db.transaction(async (tx) => …)',
    use: (tx) => usingDrizzle(tx as DrizzleTransaction),
  },
  {
    isHandle: (tx) => has(tx, 'query'),
    isTransaction: (tx) => member(tx, 'totalCount') === undefined,
    outside: 'tx is a pg pool, which may send the next statement on another client: use pool.connect(), then BEGIN',
    use: (tx) => usingPg(tx as PgClient),
  },
]

function has(tx: TransactionHandle, ...methods: string[]): boolean {
  return methods.every((name) => typeof member(tx, name) === 'function')
}

function member(tx: unknown, name: string): unknown {
  return Reflect.get(Object(tx), name)
}

function notInTransaction(why: string): ExplainedError {
  return new ExplainedError({
    code: 'NOT_IN_TRANSACTION',
    what: 'The tx passed to q is not a transaction; nothing was written.',
    why: `The value passed as ${why}.`,
    fix: 'Pass the handle of the transaction, or omit tx: docs/how-to/your-own-transaction.md.',
  })
}
