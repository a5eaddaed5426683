/**
 * Whether any JSON value satisfies the schema of a task. Payloads are stored as JSON, so a schema that demands a Date,
 * bigint, Map or Set as a required value rejects every run. `task()` reports this error in the definition.
 *
 * The validator exports its JSON Schema (zod, arktype), in which types that JSON does not have are marked as impossible.
 * A validator without JSON Schema, and one that converts (coerce, preprocess, parse), is not checked.
 */

/** The JSON pointer of a value that JSON cannot have: empty for the payload itself, undefined if there is none. */
export function impossiblePlace(input: unknown): string | undefined {
  const standard = memberOf(input, '~standard')
  const convert = memberOf(memberOf(standard, 'jsonSchema'), 'input')
  if (typeof convert !== 'function') return undefined
  try {
    return impossibleIn(
      convert({ target: 'draft-2020-12', libraryOptions: optionsOf(memberOf(standard, 'vendor')) }),
      '',
    )
  } catch {
    return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return value === undefined || value === null ? undefined : Reflect.get(Object(value), name)
}

const impossible = { not: {} }

function optionsOf(vendor: unknown): object {
  if (vendor === 'zod') return { unrepresentable: 'any', override: markInZod }
  const mark = () => impossible
  return vendor === 'arktype' ? { fallback: { date: mark, proto: mark, domain: mark } } : {}
}

const notInJson = new Set(['date', 'bigint', 'symbol', 'map', 'set', 'nan', 'file'])

function markInZod({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  const def = memberOf(memberOf(zodSchema, '_zod'), 'def')
  const kind = (of: unknown) => memberOf(memberOf(memberOf(of, '_zod'), 'def'), 'type')
  const isConverted = kind(zodSchema) === 'pipe' && kind(memberOf(def, 'in')) === 'transform'
  if (isConverted) for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
  if (notInJson.has(String(kind(zodSchema))) && memberOf(def, 'coerce') !== true) Object.assign(jsonSchema, impossible)
}

interface JsonSchema {
  readonly not?: object
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly prefixItems?: readonly unknown[]
  readonly minItems?: number
  readonly allOf?: readonly unknown[]
  readonly anyOf?: readonly unknown[]
  readonly oneOf?: readonly unknown[]
}

function impossibleIn(schema: unknown, at: string): string | undefined {
  if (schema === false) return at
  if (typeof schema !== 'object' || schema === null) return undefined
  const {
    not,
    required = [],
    properties = {},
    prefixItems = [],
    minItems = 0,
    allOf = [],
    ...rest
  } = schema as JsonSchema
  if (not !== undefined && Object.keys(not).length === 0) return at
  const needed = [
    ...required.map((name) =>
      impossibleIn(properties[name], `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ),
    ...prefixItems.slice(0, minItems).map((item, place) => impossibleIn(item, `${at}/${place}`)),
    ...allOf.map((part) => impossibleIn(part, at)),
    ...[rest.anyOf ?? [], rest.oneOf ?? []].map((choices) => inEach(choices, at)),
  ]
  return needed.find((place) => place !== undefined)
}

/** A choice is impossible if all of its variants are. */
function inEach(choices: readonly unknown[], at: string): string | undefined {
  const places = choices.map((choice) => impossibleIn(choice, at))
  return places.every((place) => place !== undefined) ? places[0] : undefined
}
