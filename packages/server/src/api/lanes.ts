/** Heartbeat lanes: when each node was alive, its gaps, and its events. */
import { z } from 'zod'
import { ms, runId, time } from './fields.ts'
import { routes } from './route.ts'

const heartbeatLane = z.object({
  replicaId: z.string(),
  name: z.string(),
  state: z.string(),
  from: time,
  to: time,
  staleAfterMs: ms,
  gaps: z.array(z.object({ from: time, to: time })),
  marks: z.array(
    z.object({
      at: time,
      kind: z.enum(['recovery', 'refused', 'beat-failed', 'drain', 'stopped']),
      runId: runId.nullable(),
      text: z.string(),
    }),
  ),
})
export type HeartbeatLane = z.infer<typeof heartbeatLane>
export type LaneMark = HeartbeatLane['marks'][number]

export const laneRoutes = routes({
  'GET /api/lanes': {
    scope: 'read',
    summary: 'One lane per node that was alive in the window (at most 7 days, 250 nodes).',
    query: z.object({
      from: time.optional().describe('Default: 15 minutes before `to`.'),
      to: time.optional().describe('Default: now.'),
    }),
    answer: z.object({ from: time, to: time, items: z.array(heartbeatLane) }),
  },
})
