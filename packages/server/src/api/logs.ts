/** Log lines of a run. */
import { z } from 'zod'
import { count, jsonValue, time } from './fields.ts'

export const logPlace = z.object({ fence: count, lineNo: count })
export const logLine = logPlace.extend({
  at: time,
  level: z.int().describe('Levels of pino: 30 info, 40 warn, 50 error.'),
  line: z.string(),
  facts: jsonValue,
})
export type LogLine = z.infer<typeof logLine>

export const logPage = z.object({
  lines: z.array(logLine),
  next: logPlace.optional().describe('The cursor of the next page; missing if there are no more lines so far.'),
})
export type LogPage = z.infer<typeof logPage>
