/** The body of every error response: RFC 9457, with our code, why and fix. */
import { z } from 'zod'

export const problem = z
  .object({
    type: z.string().describe('Address of the documentation of the code.'),
    title: z.string().describe('What happened.'),
    status: z.int(),
    code: z.string(),
    why: z.string(),
    fix: z.string(),
    docs: z.string(),
    /** For an invalid request: the position and the problem. */
    errors: z.array(z.object({ at: z.string(), problem: z.string() })).optional(),
    /** For a conflict: the state that prevents the action. */
    state: z.string().optional(),
    /** While the database is unreachable: since when. */
    since: z.string().optional(),
  })
  .describe('application/problem+json (RFC 9457)')
export type Problem = z.infer<typeof problem>
