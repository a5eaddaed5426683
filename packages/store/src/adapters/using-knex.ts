/** The verbs inside a transaction of Knex. Its `raw` counts question marks where PostgreSQL has numbers. */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { answerOf, borrowed, plainValues } from './borrowed.ts'
import { notInTransaction } from './no-transaction.ts'

/** What is used of a `Knex.Transaction`. */
export interface KnexTransaction {
  raw(sql: string, bindings: never): PromiseLike<unknown>
  /** Knex outside of transactions has none. */
  isCompleted(): boolean
}

export function usingKnex(trx: KnexTransaction): Transaction<DB> {
  return borrowed(trx, async (text, values) => {
    if (trx.isCompleted()) {
      throw notInTransaction('This transaction of Knex has ended', 'Enqueue before it is committed.')
    }
    const { sql, bindings } = withMarks(text, plainValues(values))
    return answerOf(await trx.raw(sql, bindings as never))
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
