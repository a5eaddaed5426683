/**
 * `options.tx`: the caller's own transaction, with the caller's own library. What is enqueued with it is there when that
 * transaction commits, and never was when it is rolled back.
 *
 * A handle is known by its shape; none of these libraries is loaded here. What is no transaction is refused: by the
 * compiler where its type says so, otherwise here, before anything is sent.
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

/** What the verbs of the store take, in the transaction of `tx`. */
export function storeIn(tx: TransactionHandle): Db {
  const known = libraries.find(({ isHandle }) => isHandle(tx))
  if (known === undefined) throw notInTransaction('what was passed as tx is no handle of a library that q knows')
  if (!known.isTransaction(tx)) throw notInTransaction(`what was passed as tx is ${known.outside}`)
  return known.use(tx)
}

interface Library {
  /** Does it look like one of this library's? */
  readonly isHandle: (tx: TransactionHandle) => boolean
  /** And is it a transaction, as far as it can be seen? */
  readonly isTransaction: (tx: TransactionHandle) => boolean
  readonly outside: string
  readonly use: (tx: TransactionHandle) => Db
}

const libraries: readonly Library[] = [
  {
    isHandle: (tx) => has(tx, 'getExecutor', 'withoutPlugins'),
    isTransaction: (tx) => member(tx, 'isTransaction') === true,
    outside: 'a Kysely, and not the transaction that db.transaction().execute(async (trx) => …) gives',
    use: (tx) => usingKysely(tx as KyselyTransaction),
  },
  {
    isHandle: (tx) => has(tx, '$queryRawUnsafe'),
    isTransaction: (tx) => member(tx, '$connect') === undefined,
    outside: 'a PrismaClient, and not the one that prisma.$transaction(async (tx) => …) gives',
    use: (tx) => usingPrisma(tx as PrismaTransaction),
  },
  {
    isHandle: (tx) => typeof tx === 'function' && has(tx, 'unsafe'),
    isTransaction: (tx) => has(tx, 'savepoint'),
    outside: 'the sql of postgres.js, and not the one that sql.begin(async (sql) => …) gives',
    use: (tx) => usingPostgresJs(tx as PostgresJsTransaction),
  },
  {
    isHandle: (tx) => typeof tx === 'function' && has(tx, 'raw'),
    isTransaction: (tx) => member(tx, 'isTransaction') === true && has(tx, 'isCompleted'),
    outside: 'a Knex, and not the transaction that knex.transaction(async (trx) => …) gives',
    use: (tx) => usingKnex(tx as KnexTransaction),
  },
  {
    isHandle: (tx) => has(tx, 'execute', 'transaction'),
    isTransaction: (tx) => has(tx, 'rollback', 'setTransaction'),
    outside: 'a database of Drizzle, and not the transaction that db.transaction(async (tx) => …) gives',
    use: (tx) => usingDrizzle(tx as DrizzleTransaction),
  },
  {
    isHandle: (tx) => has(tx, 'query'),
    isTransaction: (tx) => member(tx, 'totalCount') === undefined,
    outside: 'a pool of pg, whose next statement may be another client’s: connect() one, and BEGIN on it',
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
    what: 'q.enqueue() was given a tx that is no transaction; nothing was done.',
    why: `${why.charAt(0).toUpperCase()}${why.slice(1)}.`,
    fix: 'Pass the handle inside the transaction, or leave tx out: docs/how-to/your-own-transaction.md.',
  })
}
