/** The verbs inside an interactive transaction of Prisma: what `$transaction` gives to its function. */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { answerOf, borrowed, plainValues } from './borrowed.ts'

/** What is used of a `Prisma.TransactionClient`. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
  /** The client outside of transactions can connect. */
  readonly $connect?: undefined
}

export function usingPrisma(tx: PrismaTransaction): Transaction<DB> {
  return borrowed(tx, async (text, values) =>
    answerOf(await tx.$queryRawUnsafe(text, ...(plainValues(values) as never[]))),
  )
}
