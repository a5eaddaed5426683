/**
 * The filter by which runs are listed, counted and changed. Its members are text in a query, and JSON in the body of an
 * operation.
 */
import { z } from 'zod'
import { name, runId, time } from './fields.ts'

export const runFilter = z.object({
  status: z
    .array(z.string().max(40))
    .max(20)
    .optional()
    .describe('Names of states in any case, also those of other systems: queued, in-progress, done.'),
  task: name.optional(),
  queue: name.optional(),
  group: z.string().max(200).optional(),
  node: name.optional().describe('Name or id of the current or last holder.'),
  workflow: runId.optional(),
  uniqueKey: z.string().max(1_000).optional(),
  code: z.string().max(100).optional(),
  payload: z
    .string()
    .max(500)
    .optional()
    .describe('`url~cdn`: the text of a member contains `cdn`; `id=5`: the member equals 5.'),
  fingerprint: z.string().max(64).optional(),
  schedule: name.optional(),
  since: time.optional().describe('Enqueued at this time or later.'),
  before: time.optional().describe('Enqueued before this time.'),
  endedSince: time.optional().describe('Ended at this time or later.'),
  endedBefore: time.optional().describe('Ended before this time.'),
})
export type RunFilter = z.infer<typeof runFilter>
