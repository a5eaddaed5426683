import { asWorkflowId, type WorkflowId } from '@q/store'
import type { workflowRoutes } from '../api/workflows.ts'
import { conflict, notFound } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

export function workflowHandlers({ reads, writes }: HandlerDeps): Handlers<keyof typeof workflowRoutes> {
  const one = async (id: string) => {
    const [workflow] = await reads.getWorkflows([workflowId(id)])
    if (workflow === undefined) throw noWorkflow(id)
    return workflow
  }
  return {
    'GET /api/workflows': async ({ query: { cursor, ...request }, cursors }) => {
      const { items, next } = await reads.listWorkflows({ ...given(request), ...cursors.open(cursor) })
      return { items, ...cursors.seal(next) }
    },
    'GET /api/workflows/{id}': ({ params }) => one(params.id),
    'GET /api/workflows/{id}/steps': async ({ params, query: { after, limit = 1_000 } }) => {
      const workflow = await one(params.id)
      const items = await reads.listSteps(workflow.id, { limit, ...(after && { after: after as never }) })
      const last = items.at(-1)
      return { items, ...(items.length === limit && last ? { next: last.runId } : {}) }
    },
    'POST /api/workflows/{id}/pause': async ({ params, who, note }) => {
      const answer = await writes.pauseWorkflow(workflowId(params.id), who.name)
      note.answer = answer
      return { answer: done(params.id, answer, ['paused', 'already-paused']) }
    },
    'POST /api/workflows/{id}/resume': async ({ params, note }) => {
      const answer = await writes.resumeWorkflow(workflowId(params.id))
      note.answer = answer
      return { answer: done(params.id, answer, ['resumed']) }
    },
    'POST /api/workflows/{id}/cancel': async ({ params, note }) => {
      const answer = await writes.cancelWorkflow(workflowId(params.id))
      note.answer = answer
      return { answer: done(params.id, answer, ['cancelled', 'requested']) }
    },
    'POST /api/workflows/{id}/retry-failed': async ({ params, note }) => {
      const answer = await writes.retryFailedSteps(workflowId(params.id))
      note.answer = answer
      return { answer: done(params.id, answer, ['retried']) }
    },
  }
}

const whyNot: Readonly<Record<string, string>> = {
  ending: 'It has failed or was cancelled, and waits for its running steps.',
  'already-ended': 'It has ended.',
  'not-paused': 'It is not paused.',
  'nothing-failed': 'None of its steps has failed.',
  compensated: 'Its compensation has begun.',
}

/** Returns the answer if the order took effect; otherwise throws a refusal with the reason. */
function done<Answer extends string, Good extends Answer>(id: string, answer: Answer, good: readonly Good[]): Good {
  const taken = good.find((one) => one === answer)
  if (taken !== undefined) return taken
  if (answer === 'not-found') throw noWorkflow(id)
  throw conflict(`Workflow ${id} was not changed.`, answer, whyNot[answer] ?? 'Its state does not allow it.')
}

function workflowId(text: string): WorkflowId {
  const id = asWorkflowId(text)
  if (id === undefined) throw noWorkflow(text)
  return id
}

function noWorkflow(id: string) {
  return notFound(`There is no workflow ${id}.`)
}
