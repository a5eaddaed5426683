/**
 * Statements that are sent so often that compiling and planning them would cost more than doing them. Each is compiled
 * once, from Kysely, with a place for every value; sent by name on connections that keep plans (db.ts), as plain text
 * on any other, unless its plan cannot go wrong. Its text never depends on its values: batches are arrays, variants are statements of their own.
 */
import { createQueryId, sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import { withoutServer } from './without-server.ts'

/** With values it is a query of `Row`. */
export interface Prepared<Values, Row> {
  (values: Values): CompiledQuery<Row>
  readonly sql: string
}

export type Places<Values> = { readonly [Key in keyof Values]-?: RawBuilder<Values[Key]> }

/** What will be in this place when the statement is sent. */
class Place {
  readonly key: PropertyKey
  constructor(key: PropertyKey) {
    this.key = key
  }
}

interface KeptName {
  readonly name: string
  readonly keptAnywhere: boolean
}

const names = new Map<string, KeptName>()

export interface PreparedOptions {
  /** Its plan does not depend on the size of a table: it may be kept on any session, also one with usual settings. */
  readonly keptAnywhere?: boolean
}

/** Made when it is first used: a program that never sends it never compiles it. */
export function prepared<Values extends object, Row>(
  name: string,
  build: (places: Places<Values>, db: Kysely<never>) => { compile(db: Kysely<never>): CompiledQuery<Row> },
  { keptAnywhere = false }: PreparedOptions = {},
): Prepared<Values, Row> {
  let compiled: CompiledQuery<Row> | undefined
  const template = (): CompiledQuery<Row> => {
    if (compiled !== undefined) return compiled
    const db = withoutServer() as unknown as Kysely<never>
    const places = new Proxy({} as Places<Values>, { get: (_, key) => sql.val(new Place(key)) })
    compiled = build(places, db).compile(db)
    names.set(compiled.sql, { name: `q.${name}`, keptAnywhere })
    return compiled
  }
  const statement = (values: Values): CompiledQuery<Row> => {
    const { sql: text, query, parameters } = template()
    return {
      sql: text,
      query,
      queryId: createQueryId(),
      parameters: parameters.map((value) => (value instanceof Place ? Reflect.get(values, value.key) : value)),
    }
  }
  return Object.defineProperty(statement, 'sql', { get: () => template().sql }) as Prepared<Values, Row>
}

/** Values in their places: for a variant that is sent once in a while. */
export function valuesOf<Values extends object>(values: Values): Places<Values> {
  return new Proxy({} as Places<Values>, { get: (_, key) => sql.val(Reflect.get(values, key)) })
}

/** The name of a statement by its text; undefined for what is sent once in a while. */
export function preparedName(text: string): string | undefined {
  return names.get(text)?.name
}

/** The same, for sessions with usual settings. */
export function nameKeptAnywhere(text: string): string | undefined {
  const kept = names.get(text)
  return kept?.keptAnywhere === true ? kept.name : undefined
}
