/**
 * Field types that many resources share. Ids are decimal text, times are ISO text with milliseconds, durations end in
 * `Ms`.
 */
import { taskStates } from '@q/schema'
import { z } from 'zod'

export const runId = z
  .string()
  .regex(/^[1-9]\d{0,18}$/)
  .refine((id) => id.length < 19 || (id.length === 19 && id <= '9223372036854775807'), 'has more than 64 bits')
  .describe('Id of a run or workflow: a 64-bit integer as decimal text.')
export const time = z.iso.datetime().describe('ISO 8601, UTC, with milliseconds.')
export const jsonValue = z.unknown().describe('Any JSON value.')
/** Text that PostgreSQL can store. */
export const text = z.string().regex(/^[^\0]*$/, 'must not contain the character \\u0000')
export const name = text.min(1).max(200)
export const perSecond = z.number().min(0)
export const ms = z.number()
export const count = z.int().min(0)

/** A count that read a bounded number of rows. */
export const bounded = z
  .object({ count, atLeast: z.boolean() })
  .describe('Exact, unless `atLeast` is true: then there are at least this many.')
export type Bounded = z.infer<typeof bounded>

export const runState = z.enum(taskStates)
export const gate = z.enum(['parents', 'workflow', 'task', 'time', 'concurrency'])
export const onCrash = z.enum(['fail', 'retry'])

const cursor = z.string().min(1).max(500).describe('`next` of the previous page.')

/** Query of a paged list. */
export const paging = { cursor: cursor.optional(), limit: z.int().min(1).max(500).optional() }

/** A page of a list; without `next` it is the last one. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().optional() })
}

/** A complete list. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item) })
}

/** The result of an action. */
export function answerOf<const Answer extends readonly [string, ...string[]]>(...answers: Answer) {
  return z.object({ answer: z.enum(answers) })
}
