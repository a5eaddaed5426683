/**
 * The fingerprint of an error: 16 hexadecimal digits that errors with the same cause share. Replicas compute it from the
 * code, class, text and place of an error; for an end without an error (a timeout, a crash) replicas and the database
 * compute it from code and task.
 */
import { createHash } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'

const between = '\u001f'
const digits = 16

export function fingerprintOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join(between)).digest('hex').slice(0, digits)
}

/** The same as `fingerprintOf([code, task])`. */
export function fingerprintOfCode(code: RawBuilder<unknown>, task: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`left(encode(sha256(convert_to(${code} || chr(31) || ${task}, 'UTF8')), 'hex'), ${sql.lit(digits)})`
}
