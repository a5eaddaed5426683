/** Values for the schemas of the OpenAPI document: the least valid one, and the places of its texts and numbers. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minItems?: number
  readonly minimum?: number
}

export type Path = readonly (string | number)[]

export interface Place {
  readonly path: Path
  readonly schema: Schema
}

export function schemasIn(document: { components: { schemas: Readonly<Record<string, Schema>> } }) {
  const resolve = (schema: Schema): Schema => {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.replace('#/components/schemas/', '')
      return resolve(document.components.schemas[name] ?? {})
    }
    const first = (schema.anyOf ?? schema.oneOf)?.[0]
    return first === undefined ? schema : resolve(first)
  }

  function least(given: Schema): unknown {
    const schema = resolve(given)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return schema.enum[0]
    switch (schema.type) {
      case 'object': {
        const members = (schema.required ?? []).map((name) => [name, least(schema.properties?.[name] ?? {})])
        return Object.fromEntries(members) as object
      }
      case 'array':
        return Array.from({ length: schema.minItems ?? 0 }, () => least(schema.items ?? {}))
      case 'integer':
      case 'number':
        return Math.max(1, schema.minimum ?? 1)
      case 'boolean':
        return false
      case 'string':
        return schema.format === 'date-time' ? '2026-01-01T00:00:00.000Z' : schema.pattern === undefined ? 'x' : '1'
      case undefined:
      default:
        return {}
    }
  }

  /** Every text and number that a value of the schema may have, without free-form JSON. */
  function places(given: Schema, path: Path = []): Place[] {
    const schema = resolve(given)
    const parts = (given.anyOf ?? given.oneOf ?? []).slice(1).flatMap((one) => places(one, path))
    switch (schema.type) {
      case 'object':
        return [
          ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => places(inner, [...path, name])),
          ...parts,
        ]
      case 'array':
        return [...places(schema.items ?? {}, [...path, 0]), ...parts]
      case 'string':
      case 'integer':
      case 'number':
        return [{ path, schema }, ...parts]
      case undefined:
      default:
        return parts
    }
  }

  return { least, places, resolve }
}

/** A copy of the value with another one at the path. */
export function withAt(value: unknown, [name, ...rest]: Path, put: unknown): unknown {
  if (name === undefined) return put
  if (typeof name === 'number') return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put)]
  const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return { ...members, [name]: withAt(Reflect.get(members, name), rest, put) }
}
