/** Destinations: external systems that receive reports. Settings hold no secrets, only the names of variables and files. */
import { reportKinds } from '@q/schema'
import { z } from 'zod'
import { answerOf, bounded, listOf, runState, time } from './fields.ts'
import { routes } from './route.ts'

const reportKind = z.enum(reportKinds)
const settings = z.record(z.string(), z.unknown())

const destination = z.object({
  name: z.string(),
  kind: z.string(),
  reports: z.array(reportKind),
  tasks: z.array(z.string()),
  statuses: z.array(z.string()),
  settings,
  everyMs: z.int(),
  declared: z.boolean().describe('Declared by Q_DESTINATIONS_FILE of a replica.'),
  createdAt: time,
  pausedAt: time.nullable(),
  pausedBy: z.string().nullable(),
  pauseReason: z.string().nullable(),
  waiting: bounded,
  givenUp: bounded,
  dueAt: time.nullable().describe('When the next report is due.'),
  lastError: z.string().nullable(),
  sender: z.string().nullable().describe('The node that sends the reports.'),
})
export type Destination = z.infer<typeof destination>

const put = z.strictObject({
  kind: z.string().min(1).max(100),
  reports: z.array(reportKind).min(1),
  tasks: z.array(z.string()).max(1_000).optional(),
  statuses: z.array(z.union([runState, z.literal('PAUSED')])).optional(),
  settings: settings.optional(),
  everyMs: z.int().min(1_000).max(86_400_000).optional(),
})

const order = { scope: 'admin', problems: [404] } as const

export const destinationRoutes = routes({
  'GET /api/destinations': {
    scope: 'read',
    summary: 'All destinations, with the state of their reports.',
    answer: listOf(destination),
  },
  'PUT /api/destinations/{name}': {
    action: 'put-destination',
    scope: 'admin',
    summary: 'Creates a destination, or changes it. A value that looks like a secret is refused.',
    body: put,
    answer: answerOf('made', 'changed', 'unchanged'),
    problems: [422],
  },
  'DELETE /api/destinations/{name}': {
    action: 'remove-destination',
    ...order,
    summary: 'Removes a destination with its undelivered reports.',
    answer: answerOf('removed'),
  },
  'POST /api/destinations/{name}/pause': {
    action: 'pause-destination',
    ...order,
    summary: 'Pauses a destination: its reports are stored and not sent.',
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    answer: answerOf('paused'),
  },
  'POST /api/destinations/{name}/resume': {
    action: 'resume-destination',
    ...order,
    summary: 'Resumes a destination: sends its stored reports.',
    answer: answerOf('resumed'),
  },
  'POST /api/destinations/{name}/test': {
    action: 'test-destination',
    ...order,
    summary:
      'Sends a test report from the process that serves this API. The process needs the secrets of the destination.',
    answer: z.object({
      answer: z.enum(['delivered', 'failed', 'postponed', 'rejected']),
      error: z.string().nullable(),
    }),
  },
  'POST /api/destinations/{name}/redeliver': {
    action: 'redeliver-given-up',
    ...order,
    summary: 'Sends given-up reports of the destination again, oldest first, at most 1000.',
    answer: z.object({ redelivered: z.int().min(0) }),
  },
})
