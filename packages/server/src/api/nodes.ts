/** Nodes (replicas): state, stats, threads, and draining them. */
import { z } from 'zod'
import { count, listOf, ms, onCrash, runId, time } from './fields.ts'
import { recoveryView } from './recoveries.ts'
import { routes } from './route.ts'

const onDeadline = z.enum(['by-task', 'release', 'fail'])
export type OnDeadline = z.infer<typeof onDeadline>

const health = z.enum(['healthy', 'degraded', 'unhealthy', 'unknown'])

const slotView = z.object({
  slot: count,
  state: z.enum(['idle', 'running', 'stopping']),
  task: z.string().nullable(),
  runId: runId.nullable(),
  isolation: z.enum(['thread', 'process']).nullable(),
  stoppingFor: z.string().nullable(),
  cpuPercent: z.number().nullable(),
  heapMb: z.number().nullable(),
  eventLoopUse: z.number().nullable(),
  silentMs: ms.nullable(),
})
export type SlotView = z.infer<typeof slotView>

const drain = z.object({
  at: time,
  by: z.string().nullable(),
  deadline: time.nullable(),
  onDeadline,
  runsLeft: count,
  expectedEnd: time.nullable(),
  leavingAt: time.nullable().describe('The time from which the drain can no longer be undone.'),
})

export const node = z.object({
  id: z.string(),
  name: z.string(),
  hostname: z.string(),
  pid: z.int(),
  version: z.string(),
  endpoint: z.string().nullable(),
  capabilities: z.array(z.string()),
  queues: z.array(z.string()).describe('Empty: all.'),
  tasks: z.array(z.string()),
  preset: z.string(),
  state: z.enum(['alive', 'draining', 'stale', 'stopped']).describe('`stale` is shown as "lost".'),
  startedAt: time,
  stoppedAt: time.nullable(),
  drainingAt: time.nullable(),
  drainingBy: z.string().nullable(),
  drainDeadline: time.nullable(),
  drainOnDeadline: onDeadline,
  leavingAt: time.nullable(),
  slots: count,
  freeSlots: count,
  activeRuns: count,
  completed: count,
  failed: count,
  health,
  cpuPercent: z.number(),
  memoryMb: z.number(),
  uptimeS: z.number(),
  beatAgeMs: ms.nullable(),
  thresholds: z.object({
    replicaBeatMs: ms,
    replicaStaleMs: ms,
    checkEveryMs: ms,
    claimerBeatMs: ms,
    claimerStaleMs: ms,
    runnerBeatMs: ms,
    runnerStaleMs: ms,
  }),
  presenceGraceMs: ms,
  presence: z.enum(['held', 'gone', 'none']),
  goneAt: time.nullable(),
  threads: z.array(slotView),
  level: z.int().nullable(),
  recovers: z.boolean(),
  drain: drain.nullable(),
})
export type Node = z.infer<typeof node>

const heldRunView = z.object({
  id: runId,
  task: z.string(),
  status: z.enum(['CLAIMED', 'RUNNING']),
  startedAt: time.nullable(),
  forMs: ms,
  progress: z.number().nullable(),
  note: z.string().nullable(),
  expectedEndMs: ms.nullable(),
  cancelRequested: z.boolean(),
  onCrash,
  atDeadline: z.enum(['released', 'failed']),
})
export type HeldRunView = z.infer<typeof heldRunView>

const nodeSample = z.object({
  at: time,
  cpuPercent: z.number(),
  memoryMb: z.number(),
  activeRuns: count,
  freeSlots: count,
  completed: count,
  failed: count,
  health: z.string(),
})
export type NodeSample = z.infer<typeof nodeSample>

const heartbeatFailure = z.object({ at: time, inARow: count, error: z.string() })
const heartbeatGap = z.object({
  replicaId: z.string(),
  name: z.string().nullable(),
  lastBeat: time,
  endedAt: time,
  ms,
})

const nodeDetail = z.object({
  node,
  held: z.array(heldRunView),
  samples: z.array(nodeSample),
  failures: z.array(heartbeatFailure),
  gaps: z.array(heartbeatGap),
  recoveries: z.array(recoveryView),
})
export type NodeDetail = z.infer<typeof nodeDetail>

const heartbeatData = z.object({
  worker_id: z.string().describe('The name of the node.'),
  timestamp: z.int().describe('In ms since 1970, by the clock of the database.'),
  health_status: z.enum(['healthy', 'degraded', 'unhealthy']),
  current_tasks: z.array(runId).describe('The runs that it is executing, at most 500.'),
  capacity_available: count,
  metrics: z.object({
    cpu_usage: z.number().describe('In percent of all cores.'),
    memory_usage: z.number().describe('In MB, with child processes.'),
    tasks_completed: count,
    tasks_failed: count,
    uptime: z.number().describe('In seconds.'),
  }),
})
export type HeartbeatData = z.infer<typeof heartbeatData>

const drainOrder = z.strictObject({
  deadlineMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .optional()
    .describe('Without a deadline, the node waits until its runs have finished.'),
  onDeadline: onDeadline.optional().describe('What happens to runs that are stopped at the deadline.'),
})

export const nodeRoutes = routes({
  'GET /api/nodes': {
    scope: 'read',
    summary: 'Nodes that are alive, draining or lost; with `stopped` also nodes that have left.',
    query: z.object({ stopped: z.boolean().optional() }),
    answer: listOf(node),
  },
  'GET /api/nodes/{id}': {
    scope: 'read',
    summary:
      'One node with the runs it holds, its samples, gaps and recoveries. `id`: a name, an id or the beginning of one.',
    answer: nodeDetail,
    problems: [404, 409],
  },
  'GET /api/nodes/{id}/heartbeat': {
    scope: 'read',
    summary: 'The last heartbeat of a node, as the message that destinations receive.',
    answer: heartbeatData,
    problems: [404, 409],
  },
  'POST /api/nodes/{id}/drain': {
    action: 'drain',
    scope: 'admin',
    summary: 'Orders a node to drain: it claims nothing new, finishes its runs and leaves. The last order counts.',
    body: drainOrder,
    status: 202,
    answer: node,
    problems: [404, 409],
  },
  'DELETE /api/nodes/{id}/drain': {
    action: 'undrain',
    scope: 'admin',
    summary: 'Undoes a drain, unless the node is leaving already (409).',
    answer: node,
    problems: [404, 409],
  },
})
