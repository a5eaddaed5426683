/** The payload from what was typed into its form, as JSON text: numbers are written as they were typed. Pure. */
import { type JsonNode, parseLossless } from '../../parts/json/lossless.ts'
import type { Field, FormField, Group } from './schema-form.ts'

export interface Typed {
  readonly text: string
  readonly problems: Problems
}

/** The problems by the JSON pointer of their field; '' is the payload itself. */
export type Problems = Readonly<Record<string, string>>

export type Values = Readonly<Record<string, string>>

/** Members that are empty and not required are left out, and so is a group of which nothing is given. */
export function payloadFrom(fields: readonly FormField[], values: Values): Typed {
  const problems: Record<string, string> = {}
  return { text: objectText(fields, values, problems) ?? '{}', problems }
}

export function payloadFromJson(text: string): Typed {
  const node = parseLossless(text)
  if (node === undefined) return { text, problems: { '': 'This is not JSON.' } }
  const inexact = inexactIn(node)
  return { text, problems: inexact === undefined ? {} : { '': inexactWords(inexact) } }
}

/** Undefined: none of the members is given. */
function objectText(fields: readonly FormField[], values: Values, problems: Record<string, string>) {
  const members = fields.flatMap((field) => {
    const text = field.kind === 'group' ? groupText(field, values, problems) : fieldText(field, values, problems)
    return text === undefined ? [] : [`${JSON.stringify(field.name)}: ${text}`]
  })
  return members.length === 0 ? undefined : `{ ${members.join(', ')} }`
}

function groupText(group: Group, values: Values, problems: Record<string, string>): string | undefined {
  if (!group.isRequired && !isGiven(group, values)) return undefined
  return objectText(group.fields, values, problems) ?? '{}'
}

function isGiven(field: FormField, values: Values): boolean {
  if (field.kind === 'group') return field.fields.some((one) => isGiven(one, values))
  return (values[field.pointer] ?? '') !== ''
}

function fieldText(field: Field, values: Values, problems: Record<string, string>): string | undefined {
  const value = values[field.pointer] ?? field.initial
  if (value === '') {
    if (!field.isRequired) return undefined
    if (field.isNullable) return 'null'
    if (field.kind === 'text') return '""'
    problems[field.pointer] = 'It is required.'
    return undefined
  }
  const text = field.kind === 'text' ? JSON.stringify(value) : value.trim()
  const problem = problemOf(field.kind, text)
  if (problem !== undefined) problems[field.pointer] = problem
  return text
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function problemOf(kind: Field['kind'], text: string): string | undefined {
  const isNumber = kind === 'number' || kind === 'integer'
  if (isNumber && !number.test(text)) return 'It is not a number.'
  if (kind === 'integer' && !Number.isInteger(Number(text))) return 'It is not a whole number.'
  const node = parseLossless(text)
  if (node === undefined) return 'It is not JSON.'
  const inexact = inexactIn(node)
  return inexact === undefined ? undefined : inexactWords(inexact)
}

/** The first integer that the code of a task would get with other digits. The server refuses it too. */
function inexactIn(node: JsonNode): string | undefined {
  switch (node.kind) {
    case 'atom': {
      const value = number.test(node.raw) ? Number(node.raw) : 0
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? node.raw : undefined
    }
    case 'array':
      return firstOf(node.items)
    case 'object':
      return firstOf(node.members.map(([, value]) => value))
  }
}

function firstOf(nodes: readonly JsonNode[]): string | undefined {
  for (const node of nodes) {
    const found = inexactIn(node)
    if (found !== undefined) return found
  }
  return undefined
}

function inexactWords(digits: string): string {
  return `${digits} has more digits than the code of a task gets. Send it as text, between quotes.`
}
