/**
 * Converts the text of a query to typed values, by the schema of the route. An invalid number or boolean, an unknown
 * member, and a repeated member that is not a list are refused. No value is clamped.
 */
import type { z } from 'zod'
import { wrongParameters } from './refusal.ts'

type Problems = { readonly at: string; readonly problem: string }[]

export function readQuery(schema: z.ZodObject | undefined, search: URLSearchParams): unknown {
  const shape = schema?.shape ?? {}
  const unknown = [...new Set(search.keys())].filter((key) => !Object.hasOwn(shape, key))
  const problems: Problems = unknown.map((at) => ({ at, problem: 'there is no such parameter' }))
  const values: Record<string, unknown> = {}
  for (const [key, kind] of Object.entries(shape)) {
    const texts = search.getAll(key)
    if (texts.length === 0) continue
    const type = typeIn(kind as z.ZodType)
    if (texts.length > 1 && type !== 'array') problems.push({ at: key, problem: 'is there more than once' })
    values[key] =
      type === 'array'
        ? texts.flatMap((text) => text.split(',')).filter((text) => text !== '')
        : valueOf(type, texts[0] ?? '')
  }
  if (problems.length > 0) throw wrongParameters(problems)
  return check(schema, values, '')
}

/** Parses by the schema, or refuses with every problem. */
export function check(schema: z.ZodType | undefined, value: unknown, at: string): unknown {
  if (schema === undefined) return value
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw wrongParameters(
    parsed.error.issues.slice(0, 20).map(({ path, message }) => ({
      at: [at, ...path.map(String)].filter((part) => part !== '').join('.') || 'body',
      problem: message,
    })),
  )
}

/** The type of a member inside `optional` and `default`. */
function typeIn(schema: z.ZodType): string {
  const { def } = schema
  return 'innerType' in def ? typeIn(def.innerType as z.ZodType) : def.type
}

function valueOf(type: string, text: string): unknown {
  if (type === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}
