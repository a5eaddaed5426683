/**
 * A browser's session: the browser exchanges a token for a cookie that scripts cannot read and a proof that it sends as
 * a header. Programs send `Authorization: Bearer` instead and need no session.
 */
import { z } from 'zod'
import { time } from './fields.ts'
import { routes, scopes } from './route.ts'

export const session = z.object({
  name: z.string().describe('The name of the token; actions are recorded under it.'),
  scope: z.enum(scopes),
  expiresAt: time.nullable(),
  readOnly: z.boolean().describe('The server accepts no actions.'),
  version: z.string(),
  database: z.object({ name: z.string(), place: z.string() }),
  badge: z.object({ text: z.string(), color: z.string().nullable() }).nullable().describe('Name of the environment.'),
  now: time,
})
export type Session = z.infer<typeof session>

export const sessionRoutes = routes({
  'POST /api/session': {
    scope: 'open',
    summary: 'Begins a session: sets the cookie, and returns the proof to send as `Q-Proof`.',
    body: z.strictObject({ token: z.string().min(1).max(200) }),
    answer: session.extend({ proof: z.string() }),
  },
  'GET /api/session': {
    scope: 'read',
    summary: 'The identity of the caller, and facts about this server.',
    answer: session,
  },
  'DELETE /api/session': {
    scope: 'read',
    summary: 'Ends the session.',
    answer: z.object({ ended: z.boolean() }),
  },
})
