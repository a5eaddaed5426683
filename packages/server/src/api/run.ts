/** One run with all its details. */
import { z } from 'zod'
import { count, gate, jsonValue, ms, onCrash, runId, runState, time } from './fields.ts'

const runRecord = z.object({
  id: runId,
  task: z.string(),
  queue: z.string(),
  requires: z.array(z.string()),
  group: z.string(),
  priority: z.int(),
  status: runState,
  waitingFor: gate.nullable(),
  waitingOn: count,
  payload: jsonValue,
  result: jsonValue,
  checkpoint: jsonValue,
  attempt: count,
  maxAttempts: count,
  crashCount: count,
  epoch: count,
  fence: count,
  onCrash: onCrash.nullable(),
  timeoutMs: ms.nullable(),
  maxSilentMs: ms.nullable(),
  uniqueKey: z.string().nullable(),
  concurrency: z.object({ scope: z.string(), key: z.string(), slot: z.int().nullable() }).nullable(),
  workflowId: runId.nullable(),
  trace: z.string().nullable(),
  replicaId: z.string().nullable(),
  createdAt: time,
  runAt: time,
  expiresAt: time.nullable(),
  claimedAt: time.nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  cancelRequestedAt: time.nullable(),
  updatedAt: time,
})
export type RunRecord = z.infer<typeof runRecord>

const outcome = z.enum(['running', 'succeeded', 'failed', 'cancelled', 'crashed', 'released', 'retried', 'snoozed'])

const attempt = z.object({
  epoch: count,
  fence: count,
  attempt: count,
  outcome,
  code: z.string().nullable(),
  detail: z.string().nullable(),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  replicaId: z.string(),
  replicaName: z.string().nullable(),
  hostname: z.string().nullable(),
  pid: z.int().nullable(),
  thread: z.int().nullable(),
})
export type RunAttempt = z.infer<typeof attempt>

const runRecovery = z.object({
  fence: count,
  at: time,
  cause: z.string(),
  was: runState,
  became: runState,
  code: z.string().nullable(),
  beatAgeMs: ms.nullable(),
  replicaId: z.string(),
  recoveredBy: z.string(),
  recoveredByName: z.string(),
})

const runHeartbeat = z.object({
  role: z.enum(['claimer', 'runner']),
  senderId: z.string(),
  sentAt: time,
  ageMs: ms,
  progress: z.number().nullable(),
  note: z.string().nullable(),
})

const event = z.object({
  fence: count,
  kind: z.string(),
  at: time,
  replicaId: z.string().nullable(),
  detail: z.string().nullable(),
})

/** `what` determines the other members. */
const timelineEntry = z.looseObject({ at: time.nullable(), by: z.string().nullable(), what: z.string() })

const reason = z.looseObject({ reason: z.string() })

export const why = z.object({
  runId,
  status: runState,
  reasons: z.array(reason),
  sentence: z.string(),
  sentences: z.array(z.string()).describe('One sentence for each reason.'),
})
export type Why = z.infer<typeof why>

export const runTexts = z.object({
  payloadText: z.string().describe('The payload as stored: 64-bit integers keep their digits.'),
  resultText: z.string().nullable(),
  checkpointText: z.string().nullable(),
})
export type RunTexts = z.infer<typeof runTexts>

export const runDetail = runTexts.extend({
  run: runRecord,
  attempts: z.array(attempt),
  recoveries: z.array(runRecovery),
  beats: z.array(runHeartbeat),
  events: z.array(event),
  timeline: z.array(timelineEntry),
  replicaName: z.string().nullable(),
  parent: z.object({ runId, task: z.string() }).nullable(),
  children: z.array(z.object({ runId, task: z.string(), status: runState })),
  again: z.object({
    of: runId.nullable().describe('The run that this one repeats.'),
    runs: z.array(runId).describe('Runs that repeat this one.'),
  }),
  scheduleTick: z.object({ schedule: z.string(), tick: time }).nullable(),
  why: why.omit({ sentences: true }).nullable().describe('Only while the run waits.'),
  waitMs: ms.nullable(),
  durationMs: ms.nullable(),
})
export type RunDetail = z.infer<typeof runDetail>
