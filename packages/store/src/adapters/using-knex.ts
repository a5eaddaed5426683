/**
 * The verbs inside a transaction of Knex. Its `raw` expects question marks instead of PostgreSQL's numbered parameters.
 */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { driverResultOf, wrapCallerTransaction, plainValues } from './caller-transaction.ts'
import { notInTransaction } from './no-transaction.ts'

/** The used part of a `Knex.Transaction`. */
export interface KnexTransaction {
  raw(sql: string, bindings: never): PromiseLike<unknown>
  /** Missing outside of a transaction. */
  isCompleted(): boolean
}

export function usingKnex(trx: KnexTransaction): Transaction<DB> {
  return wrapCallerTransaction(trx, async (text, values) => {
    if (trx.isCompleted()) {
      throw notInTransaction('This transaction of Knex has ended', 'Enqueue before it is committed.')
    }
    const { sql, bindings } = withMarks(text, plainValues(values))
    return driverResultOf(await trx.raw(sql, bindings as never))
  })
}

function withMarks(text: string, values: readonly unknown[]): { sql: string; bindings: unknown[] } {
  const bindings: unknown[] = []
  const sql = text.replaceAll(/\$(\d+)|\?/g, (mark, number: string | undefined) => {
    if (number === undefined) return `\\${mark}`
    bindings.push(values[Number(number) - 1])
    return '?'
  })
  return { sql, bindings }
}
