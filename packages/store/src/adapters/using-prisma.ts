/** The verbs inside an interactive transaction of Prisma: the client that `$transaction` passes to its function. */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { driverResultOf, wrapCallerTransaction, plainValues } from './caller-transaction.ts'

/** The used part of a `Prisma.TransactionClient`. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
  /** Present only outside of a transaction. */
  readonly $connect?: undefined
}

export function usingPrisma(tx: PrismaTransaction): Transaction<DB> {
  return wrapCallerTransaction(tx, async (text, values) =>
    driverResultOf(await tx.$queryRawUnsafe(text, ...(plainValues(values) as never[]))),
  )
}
