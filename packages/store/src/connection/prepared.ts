/**
 * Statements that are sent so often that compiling and planning them would cost more than executing them. Each is compiled
 * once, from Kysely, with a placeholder for every value. It is sent by name on connections that keep plans (db.ts), and as
 * plain text on any other, unless its plan is always safe. Its text never depends on its values: batches are arrays,
 * variants are separate statements.
 */
import { createQueryId, sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import { compileOnlyDb } from './compile-only-db.ts'

/** With values it is a query of `Row`. */
export interface Prepared<Values, Row> {
  (values: Values): CompiledQuery<Row>
  readonly sql: string
}

export type ParameterRefs<Values> = { readonly [Key in keyof Values]-?: RawBuilder<Values[Key]> }

/** Stands for the value that will be sent. */
class ParameterRef {
  readonly key: PropertyKey
  constructor(key: PropertyKey) {
    this.key = key
  }
}

interface PreparedName {
  readonly name: string
  readonly keptAnywhere: boolean
}

const names = new Map<string, PreparedName>()

export interface PreparedOptions {
  /** Whether its plan is independent of table sizes, so that any session may keep it, even with default settings. */
  readonly keptAnywhere?: boolean
}

/** Compiled at its first use: a program that never sends it never compiles it. */
export function prepared<Values extends object, Row>(
  name: string,
  build: (parameters: ParameterRefs<Values>, db: Kysely<never>) => { compile(db: Kysely<never>): CompiledQuery<Row> },
  { keptAnywhere = false }: PreparedOptions = {},
): Prepared<Values, Row> {
  let compiled: CompiledQuery<Row> | undefined
  const template = (): CompiledQuery<Row> => {
    if (compiled !== undefined) return compiled
    const db = compileOnlyDb() as unknown as Kysely<never>
    const parameters = new Proxy({} as ParameterRefs<Values>, { get: (_, key) => sql.val(new ParameterRef(key)) })
    compiled = build(parameters, db).compile(db)
    names.set(compiled.sql, { name: `q.${name}`, keptAnywhere })
    return compiled
  }
  const statement = (values: Values): CompiledQuery<Row> => {
    const { sql: text, query, parameters } = template()
    return {
      sql: text,
      query,
      queryId: createQueryId(),
      parameters: parameters.map((value) => (value instanceof ParameterRef ? Reflect.get(values, value.key) : value)),
    }
  }
  return Object.defineProperty(statement, 'sql', { get: () => template().sql }) as Prepared<Values, Row>
}

/** Uses the values directly, for a variant that is sent rarely. */
export function valuesOf<Values extends object>(values: Values): ParameterRefs<Values> {
  return new Proxy({} as ParameterRefs<Values>, { get: (_, key) => sql.val(Reflect.get(values, key)) })
}

/** Returns the name of a statement by its text; undefined for statements that are sent rarely. */
export function preparedName(text: string): string | undefined {
  return names.get(text)?.name
}

/** The same, for sessions with default settings. */
export function nameKeptAnywhere(text: string): string | undefined {
  const kept = names.get(text)
  return kept?.keptAnywhere === true ? kept.name : undefined
}
