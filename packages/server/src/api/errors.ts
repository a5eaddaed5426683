/** Errors grouped by fingerprint. */
import { z } from 'zod'
import { answerOf, count, name, pageOf, paging, runId, time } from './fields.ts'
import { routes } from './route.ts'

const errorGroup = z.object({
  fingerprint: z.string(),
  code: z.string(),
  name: z.string(),
  message: z.string(),
  place: z.string().nullable(),
  tasks: z.array(z.string()),
  versions: z.array(z.string()),
  firstSeen: time,
  lastSeen: time,
  seen: count,
  lastRunId: runId,
  mutedUntil: time.nullable(),
  mutedBy: z.string().nullable(),
  hours: z.array(z.object({ at: time, seen: count })).describe('The last 24 hours.'),
})
export type ErrorGroup = z.infer<typeof errorGroup>

export const errorRoutes = routes({
  'GET /api/errors': {
    scope: 'read',
    summary: 'Groups of errors, last seen first.',
    query: z.object({ task: name.optional(), muted: z.boolean().optional(), ...paging }),
    answer: pageOf(errorGroup).extend({
      lookedBackTo: time.nullable().describe('When the last group that was read was last seen; null: all were read.'),
      exhausted: z.boolean().describe('False: older groups were not read; `next` continues there.'),
    }),
  },
  'GET /api/errors/{fingerprint}': {
    scope: 'read',
    summary: 'One group, by its fingerprint or the beginning of it.',
    answer: errorGroup,
    problems: [404],
  },
  'PUT /api/errors/{fingerprint}/mute': {
    action: 'mute-errors',
    scope: 'admin',
    summary: 'Mutes a group for a time: attention does not list it.',
    body: z.strictObject({ untilMs: z.int().min(1_000).max(31_536_000_000).describe('From now.') }),
    answer: answerOf('muted'),
    problems: [404],
  },
  'DELETE /api/errors/{fingerprint}/mute': {
    action: 'unmute-errors',
    scope: 'admin',
    summary: 'Unmutes a group.',
    answer: answerOf('unmuted'),
    problems: [404],
  },
})
