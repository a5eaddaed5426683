/** The fields of a form from the JSON Schema of a task's payload, and the payload from what was typed. Pure. */
import { parseLossless } from '../../parts/json/lossless.ts'

export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly isRequired: boolean
  readonly hint: string
  readonly options: readonly string[]
  /** As JSON text or, for a text, as it is; empty: none. */
  readonly initial: string
}

type Schema = Readonly<Record<string, unknown>>

/** Undefined: the payload is not an object with known members, so it is written as JSON. */
export function fieldsOf(schema: Schema | null | undefined): Field[] | undefined {
  const properties = schema?.['properties']
  if (schema?.['type'] !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(properties as Record<string, Schema>).map(([name, own]) =>
    fieldOf(name, own, required.includes(name)),
  )
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const options =
    Array.isArray(schema['enum']) && schema['enum'].every((value) => typeof value === 'string') ? schema['enum'] : []
  const kind = options.length > 0 ? 'choice' : kindOf(schema['type'])
  const preset = schema['default']
  const initial = preset === undefined ? '' : typeof preset === 'string' ? preset : JSON.stringify(preset)
  return { name, kind, isRequired, options, initial, hint: hintOf(schema) }
}

function kindOf(type: unknown): Field['kind'] {
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

function hintOf(schema: Schema): string {
  const limits = [
    ['minimum', 'at least'],
    ['maximum', 'at most'],
    ['minLength', 'characters at least'],
    ['maxLength', 'characters at most'],
    ['pattern', 'like'],
    ['format', 'as'],
  ] as const
  const said = limits.flatMap(([key, word]) =>
    key in schema && Math.abs(Number(schema[key])) !== Number.MAX_SAFE_INTEGER
      ? [`${word} ${String(schema[key])}`]
      : [],
  )
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  const type = typeof schema['type'] === 'string' ? schema['type'] : 'JSON'
  return [description, [type, ...said].join(', ')].filter((part) => part !== '').join('. ')
}

export interface Typed {
  readonly text: string
  /** What is wrong with a field, by its name. */
  readonly problems: Readonly<Record<string, string>>
}

/** Members that are empty and not required are left out. Numbers are written as they were typed. */
export function payloadFrom(fields: readonly Field[], values: Readonly<Record<string, string>>): Typed {
  const problems: Record<string, string> = {}
  const members = fields.flatMap((field) => {
    const value = values[field.name] ?? field.initial
    if (value === '' && !(field.kind === 'text' && field.isRequired)) {
      if (field.isRequired) problems[field.name] = 'It is required.'
      return []
    }
    const text = field.kind === 'text' || field.kind === 'choice' ? JSON.stringify(value) : value.trim()
    if (field.kind === 'number' && !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text))
      problems[field.name] = 'It is not a number.'
    else if (parseLossless(text) === undefined) problems[field.name] = 'It is not JSON.'
    return [`${JSON.stringify(field.name)}: ${text}`]
  })
  return { text: members.length === 0 ? '{}' : `{ ${members.join(', ')} }`, problems }
}
