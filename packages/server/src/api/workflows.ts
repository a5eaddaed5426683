/** Workflows and their steps. */
import { z } from 'zod'
import { answerOf, count, gate, jsonValue, name, pageOf, paging, runId, runState, time } from './fields.ts'
import { routes } from './route.ts'

const status = z.enum(['RUNNING', 'PAUSED', 'SUCCEEDED', 'FAILED', 'CANCELLED'])
export type WorkflowStatus = z.infer<typeof status>

export const workflowView = z.object({
  id: runId,
  name: z.string(),
  status,
  endsAs: z.enum(['FAILED', 'CANCELLED']).nullable(),
  onError: z.enum(['fail', 'pause', 'continue']),
  compensating: z.boolean(),
  pausedBy: z.string().nullable(),
  parentRunId: runId.nullable(),
  input: jsonValue,
  result: jsonValue,
  progress: z.object({ ended: count, total: count }),
  steps: z.partialRecord(runState, count),
  createdAt: time,
  finishedAt: time.nullable(),
})
export type WorkflowView = z.infer<typeof workflowView>

export const stepView = z.object({
  runId,
  name: z.string(),
  kind: z.string(),
  task: z.string(),
  status: runState,
  waitingFor: gate.nullable(),
  waitingOn: count,
  attempt: count,
  code: z.string().nullable(),
  parents: z.array(z.string()),
  subWorkflowId: runId.nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
})
export type StepView = z.infer<typeof stepView>

const one = { params: z.object({ id: runId }) } as const
const order = { ...one, scope: 'admin', problems: [404, 409] } as const

export const workflowRoutes = routes({
  'GET /api/workflows': {
    scope: 'read',
    summary: 'Workflows, newest first.',
    query: z.object({ status: z.array(status).max(5).optional(), name: name.optional(), ...paging }),
    answer: pageOf(workflowView),
  },
  'GET /api/workflows/{id}': { ...one, scope: 'read', summary: 'One workflow.', answer: workflowView, problems: [404] },
  'GET /api/workflows/{id}/steps': {
    ...one,
    scope: 'read',
    summary: 'Its steps, parents before children.',
    query: z.object({ after: runId.optional(), limit: z.int().min(1).max(1_000).optional() }),
    answer: pageOf(stepView),
    problems: [404],
  },
  'POST /api/workflows/{id}/pause': {
    action: 'pause-workflow',
    ...order,
    summary: 'Pauses a workflow: no further step starts.',
    answer: answerOf('paused', 'already-paused'),
  },
  'POST /api/workflows/{id}/resume': {
    action: 'resume-workflow',
    ...order,
    summary: 'Resumes a paused workflow.',
    answer: answerOf('resumed'),
  },
  'POST /api/workflows/{id}/cancel': {
    action: 'cancel-workflow',
    ...order,
    summary: 'Cancels a workflow: running steps are stopped.',
    answer: answerOf('cancelled', 'requested'),
  },
  'POST /api/workflows/{id}/retry-failed': {
    action: 'retry-workflow',
    ...order,
    summary: 'Retries the steps that did not succeed.',
    answer: answerOf('retried'),
  },
})
