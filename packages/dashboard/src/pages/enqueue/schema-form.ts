/**
 * The form of a payload from the JSON Schema of its task. Pure. An object with known members becomes a group of fields; what a form
 * cannot say becomes a field for JSON.
 */
export interface Choice {
  readonly label: string
  readonly json: string
}

interface Named {
  readonly name: string
  /** JSON pointer into the payload (RFC 6901). */
  readonly pointer: string
  readonly isRequired: boolean
  readonly hint: string
}

export interface Field extends Named {
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'
  readonly choices: readonly Choice[]
  /** Whether the value may be null. A required field that is left empty is null then. */
  readonly isNullable: boolean
  /** What the field begins with: text as it is, anything else as JSON; empty: nothing. */
  readonly initial: string
}

export interface Group extends Named {
  readonly kind: 'group'
  readonly fields: readonly FormField[]
}

export type FormField = Field | Group

type Schema = Readonly<Record<string, unknown>>

interface Place {
  readonly root: Schema
  readonly depth: number
  readonly pointer: string
}

/** Deeper objects are written as JSON; this also ends a schema that refers to itself. */
const depthMax = 4

/** Undefined: the payload is not an object with known members, so it is written as JSON. */
export function formOf(schema: Schema | null | undefined): readonly FormField[] | undefined {
  if (schema === null || schema === undefined) return undefined
  return membersOf(schema, { root: schema, depth: 0, pointer: '' })
}

function membersOf(given: Schema, place: Place): readonly FormField[] | undefined {
  const schema = resolved(given, place.root)
  const properties = asSchema(schema['properties'])
  if (schema['type'] !== 'object' || properties === undefined || place.depth >= depthMax) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(properties).map(([name, own]) =>
    fieldOf(name, asSchema(own) ?? {}, required.includes(name), {
      ...place,
      depth: place.depth + 1,
      pointer: `${place.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    }),
  )
}

function fieldOf(name: string, given: Schema, isRequired: boolean, place: Place): FormField {
  const { schema, isNullable } = withoutNull(resolved(given, place.root), place.root)
  const named = { name, pointer: place.pointer, isRequired }
  const fields = isNullable ? undefined : membersOf(schema, place)
  if (fields !== undefined && fields.length > 0) return { ...named, kind: 'group', fields, hint: descriptionOf(schema) }
  const choices = choicesOf(schema)
  const kind = choices.length > 0 ? 'choice' : kindOf(schema['type'])
  const preset = given['default'] ?? schema['default']
  const initial =
    preset === undefined ? '' : kind === 'text' && typeof preset === 'string' ? preset : JSON.stringify(preset)
  const hint = hintOf(schema, isNullable && isRequired)
  return { ...named, kind, choices, isNullable, initial, hint }
}

function kindOf(type: unknown): Field['kind'] {
  if (type === 'string') return 'text'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'json'
}

function choicesOf(schema: Schema): Choice[] {
  const values: readonly unknown[] = 'const' in schema ? [schema['const']] : asArray(schema['enum'])
  return values.map((value) => {
    const json = JSON.stringify(value)
    return { json, label: typeof value === 'string' ? value : json }
  })
}

/** The schema of the value when it is not null: of `type: [x, 'null']`, and of a choice between one schema and null. */
function withoutNull(schema: Schema, root: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  const { type } = schema
  if (Array.isArray(type) && type.length === 2 && type.includes('null'))
    return { schema: { ...schema, type: type.find((one) => one !== 'null') }, isNullable: true }
  const options = asArray(schema['anyOf'] ?? schema['oneOf']).map((one) => resolved(asSchema(one) ?? {}, root))
  const others = options.filter((one) => one['type'] !== 'null')
  if (options.length !== 2 || others.length !== 1) return { schema, isNullable: false }
  return { schema: { ...schema, ...others[0] }, isNullable: true }
}

const refsMax = 10

/** Follows references inside the schema; a reference to elsewhere leaves anything possible. */
function resolved(given: Schema, root: Schema): Schema {
  let schema = given
  for (let refs = 0; refs < refsMax; refs++) {
    const ref = schema['$ref']
    if (typeof ref !== 'string') return schema
    const isLocal = ref === '#' || ref.startsWith('#/')
    const names = ref.split('/').slice(1)
    const found = names.reduce<unknown>(
      (at, name) => asSchema(at)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    )
    const beside = Object.entries(schema).filter(([key]) => key !== '$ref')
    schema = { ...(isLocal ? asSchema(found) : {}), ...Object.fromEntries(beside) }
  }
  return {}
}

function hintOf(schema: Schema, isNullWhenEmpty: boolean): string {
  const limits = [
    ['minimum', 'at least'],
    ['maximum', 'at most'],
    ['exclusiveMinimum', 'more than'],
    ['exclusiveMaximum', 'less than'],
    ['minLength', 'length at least'],
    ['maxLength', 'length at most'],
    ['pattern', 'like'],
    ['format', 'as'],
  ] as const
  const said = limits.flatMap(([key, word]) =>
    key in schema && Math.abs(Number(schema[key])) !== Number.MAX_SAFE_INTEGER
      ? [`${word} ${String(schema[key])}`]
      : [],
  )
  const type = typeof schema['type'] === 'string' ? schema['type'] : 'JSON'
  const words = [type, ...said, ...(isNullWhenEmpty ? ['empty: null'] : [])].join(', ')
  return [descriptionOf(schema), words].filter((part) => part !== '').join('. ')
}

function descriptionOf(schema: Schema): string {
  return typeof schema['description'] === 'string' ? schema['description'] : ''
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
