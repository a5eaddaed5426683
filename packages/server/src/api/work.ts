/**
 * Routes for workers that are not runners of q. Workers claim runs, send heartbeats and report outcomes over HTTP.
 * Every write after the claim must present the lease: the id of the run, and its fence in the body.
 */
import { z } from 'zod'
import { answerOf, count, name, onCrash, runId, text } from './fields.ts'
import { routes } from './route.ts'

const workerId = z
  .string()
  .regex(/^[\w.-]{1,100}$/)
  .describe(
    'Chosen by the worker, and new for each process, so that a restarted worker is not mistaken for the old one.',
  )

const interval = z.int().min(1_000).max(1_800_000)

const stats = z
  .strictObject({
    healthStatus: z.enum(['healthy', 'degraded', 'unhealthy']),
    cpuPercent: z.number().min(0).max(100_000),
    memoryMb: z.number().min(0).max(100_000_000),
    completed: count,
    failed: count,
    uptimeS: z.number().min(0).max(2_000_000_000),
  })
  .partial()
  .describe('Facts about the worker that are shown with nodes.')
export type WorkerStats = z.output<typeof stats>

const retry = z.strictObject({
  attempts: z.int().min(1).max(1_000).default(1),
  backoff: z.enum(['exponential', 'fixed']).default('exponential'),
  delayMs: z.int().min(0).max(86_400_000).default(1_000),
  maxDelayMs: z.int().min(0).max(86_400_000).default(3_600_000),
})

const ownTask = z.strictObject({
  name,
  queue: name.default('default'),
  onCrash: onCrash.optional(),
  retry: retry.optional(),
})

const claim = z.strictObject({
  workerId,
  workerName: name.optional().describe('For people. Default: the id.'),
  hostname: name.optional(),
  pid: z.int().min(0).max(2_147_483_647).optional(),
  tasks: z
    .array(z.union([name, ownTask]))
    .min(1)
    .max(200)
    .describe(
      'Tasks that it executes. A task that no node has published is published, with the options given here. Later options replace only those that a worker of the same token published.',
    ),
  queues: z.array(name).max(100).default([]).describe('Empty: all.'),
  capabilities: z.array(name).max(100).default([]),
  slots: z.int().min(1).max(10_000).default(1).describe('The number of runs that the worker executes concurrently.'),
  onCrash: onCrash.default('fail').describe('For runs whose task and enqueue do not set it.'),
  beatEveryMs: interval.default(30_000).describe('The longest time between two claims or heartbeats of the worker.'),
  staleAfterMs: interval
    .default(120_000)
    .describe('A worker that is silent for longer counts as dead. At least twice beatEveryMs.'),
  limit: z.int().min(0).max(100).default(1).describe('0: registers and sends a heartbeat, and claims nothing.'),
  start: z.boolean().default(true).describe('False: the runs are CLAIMED, and the worker starts each one later.'),
  stats: stats.optional(),
})
export type Claim = z.output<typeof claim>

const claimedRun = z.object({
  runId,
  fence: z.int(),
  task: z.string(),
  queue: z.string(),
  payloadText: z.string().describe('The payload as JSON text: no digit is lost.'),
  attempt: count,
  onCrash,
  timeoutMs: z.number().nullable().describe('A limit of the run itself, which the worker has to apply.'),
  checkpointText: z.string().nullable(),
})
export type WorkRun = z.infer<typeof claimedRun>

const lease = { workerId, fence: z.int().min(1).max(2_147_483_647) }

const failure = z.strictObject({
  message: z.string().max(10_000),
  stack: z.string().max(20_000).optional(),
  retry: z
    .union([z.literal('never'), z.strictObject({ afterMs: z.int().min(0).max(31_536_000_000) })])
    .optional()
    .describe('Default: the value of the task.'),
})

const outcome = z.strictObject({
  ...lease,
  resultText: z.string().optional().describe('The result of a run that succeeded, as JSON text.'),
  error: failure.optional().describe('The run failed. Retries and backoff apply as for a thrown error.'),
  cancelled: z.literal(true).optional().describe('The worker stopped the run because its cancel was requested.'),
  tookMs: z.number().min(0).max(31_536_000_000).optional(),
})
export type WorkOutcome = z.output<typeof outcome>

const worker = z.object({ registered: z.boolean().describe('False: claim again to register.'), draining: z.boolean() })
const held = z.object({ runId, fence: z.int(), status: z.enum(['CLAIMED', 'RUNNING']) })
const ofRun = { scope: 'work', params: z.object({ id: runId }), problems: [409] } as const

export const workRoutes = routes({
  'POST /api/claims': {
    scope: 'work',
    summary: 'Claims runs for a worker, registers the worker if it is new, and counts as its heartbeat.',
    body: claim,
    answer: z.object({ workerName: z.string(), draining: z.boolean(), runs: z.array(claimedRun) }),
  },
  'POST /api/runs/{id}/start': {
    ...ofRun,
    summary: 'Starts a run that was claimed with `start: false`. Its code must not begin earlier.',
    body: z.strictObject(lease),
    answer: answerOf('started'),
  },
  'POST /api/runs/{id}/beat': {
    ...ofRun,
    summary: 'Heartbeat of a run and of its worker. `cancelled`: stop the run and finish it as cancelled.',
    body: z.strictObject({
      ...lease,
      progress: z.number().min(0).max(1).optional(),
      note: text.max(1_000).optional(),
      stats: stats.optional(),
    }),
    answer: answerOf('alive', 'busy', 'cancelled', 'ended').extend(worker.shape),
  },
  'POST /api/runs/{id}/finish': {
    ...ofRun,
    summary: 'Writes the outcome of a run: a result, an error, or that it was cancelled.',
    body: outcome,
    answer: answerOf('settled', 'retried'),
    problems: [409, 422],
  },
  'POST /api/runs/{id}/release': {
    ...ofRun,
    summary: 'Returns a run to the queue without an outcome; the attempt does not count.',
    body: z.strictObject(lease),
    answer: answerOf('released'),
  },
  'GET /api/workers/{workerId}/runs': {
    scope: 'work',
    summary: 'The runs that a worker of this token holds.',
    params: z.object({ workerId }),
    answer: z.object({ items: z.array(held) }),
  },
  'DELETE /api/workers/{workerId}': {
    scope: 'work',
    summary: 'The worker leaves: it releases the runs that it still holds, and is no longer a node.',
    params: z.object({ workerId }),
    answer: z.object({ released: z.array(runId) }),
  },
})
