/** Log lines of a run. */
import { z } from 'zod'
import { count, jsonValue, runId, time } from './fields.ts'

export const logPlace = z.object({ fence: count, lineNo: count })

/** `fence.lineNo`, each at most 2147483647. */
export const logPlaceText = z
  .string()
  .regex(/^\d{1,10}\.\d{1,10}$/)
  .refine(isPlace, 'has a number above 2147483647')

/** `id`, or `id.fence.lineNo`. */
export const logSubject = z
  .string()
  .regex(/^[1-9]\d{0,18}(\.\d{1,10}\.\d{1,10})?$/)
  .refine((text) => {
    const [id, ...place] = text.split('.')
    return runId.safeParse(id).success && isPlace(place.join('.'))
  }, 'has a number that is too large')

/** Also of what is not a number: the pattern has refused it. */
function isPlace(text: string): boolean {
  return !text.split('.').some((number) => Number(number) > 2_147_483_647)
}

export const loggedLine = logPlace.extend({
  at: time,
  level: z.int().describe('Levels of pino: 30 info, 40 warn, 50 error.'),
  line: z.string(),
  facts: jsonValue,
})
export type LoggedLine = z.infer<typeof loggedLine>

export const logPage = z.object({
  lines: z.array(loggedLine),
  next: logPlace.optional().describe('The cursor of the next page; missing if there are no more lines so far.'),
})
export type LogPage = z.infer<typeof logPage>
