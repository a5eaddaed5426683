/** Recoveries of runs from nodes that were considered dead, and their review. */
import { z } from 'zod'
import { count, ms, name, pageOf, paging, runId, runState, time } from './fields.ts'
import { routes } from './route.ts'

export const recoveryView = z.object({
  id: z.string(),
  runId,
  task: z.string().nullable(),
  at: time,
  cause: z.string(),
  was: z.string(),
  became: z.string(),
  code: z.string().nullable(),
  beatAgeMs: ms.nullable(),
  replicaId: z.string(),
  replicaName: z.string().nullable(),
  recoveredBy: z.string(),
  recoveredByName: z.string().nullable(),
  needsReview: z.boolean(),
  reviewedAt: time.nullable(),
  reviewedBy: z.string().nullable(),
})
export type RecoveryView = z.infer<typeof recoveryView>

const staleRun = z.object({
  id: runId,
  fence: count,
  status: runState,
  replicaId: z.string(),
  name: z.string().nullable(),
  hostname: z.string().nullable(),
  cause: z.string(),
  beatAgeMs: ms.nullable(),
})
export type StaleRun = z.infer<typeof staleRun>

const leftAlone = z
  .object({ ids: z.array(runId).max(100), count, why: z.string(), fix: z.string() })
  .describe('Runs of silent nodes that were not judged. Null: there are none.')

const ids = z.array(runId).min(1).max(500)

export const recoveryRoutes = routes({
  'GET /api/recoveries': {
    scope: 'read',
    summary: 'Recoveries, newest first.',
    query: z.object({ node: name.optional(), toReview: z.boolean().optional(), ...paging }),
    answer: pageOf(recoveryView),
  },
  'POST /api/recoveries/review': {
    action: 'review',
    scope: 'admin',
    summary: 'Marks recoveries as reviewed, by their ids or by the ids of their runs.',
    body: z.union([z.strictObject({ ids }), z.strictObject({ runIds: ids })]),
    answer: z.object({ reviewed: count }),
  },
  'GET /api/stale': {
    scope: 'read',
    summary: 'Held runs that a reaper would recover now.',
    answer: z.object({ items: z.array(staleRun) }),
  },
  'POST /api/recover': {
    action: 'recover',
    scope: 'admin',
    summary: 'Recovers stale runs now, as a reaper would. `dryRun` only lists them.',
    body: z.strictObject({
      dryRun: z.boolean().optional(),
      force: z
        .boolean()
        .optional()
        .describe(
          'Judge heartbeats even if the database has not accepted any for a whole threshold, as after its restart.',
        ),
    }),
    answer: z.object({
      dryRun: z.boolean(),
      ids: z.array(runId),
      count,
      leftAlone: leftAlone.nullable(),
      stuck: z.array(runId).describe('Stale runs that the database refuses to change.'),
      locked: z
        .array(runId)
        .describe('Stale runs that another session has locked, for example to recover them. Repeat the request.'),
    }),
  },
})
