import { asRunId, sentenceOf } from '@q/store'
import type { RunId } from '@q/store'
import type { runRoutes } from '../api/runs.ts'
import { requireShallow } from '../http/require-shallow.ts'
import { conflict, notFound, wrongParameters } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { hidden } from '../secrets/secrets.ts'
import { enqueueRun } from './enqueue.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { storeFilter } from './store-filter.ts'

export function runHandlers(deps: HandlerDeps): Handlers<keyof typeof runRoutes> {
  const { reads, writes } = deps
  return {
    'GET /api/runs': async ({ query: { ids, view, look, cursor, limit, ...filter }, cursors }) => {
      if (ids !== undefined) {
        const runs = await reads.runSummaries(ids.map(runIdOf))
        return { runs, looked: ids.length, lookedBackTo: null, exhausted: true }
      }
      const { next, ...page } = await reads.listTaskRuns(await storeFilter(reads, filter), {
        ...given({ view, look, limit }),
        ...cursors.open(cursor),
      })
      return { ...page, ...cursors.seal(next) }
    },
    'GET /api/runs/count': async ({ query: { max = 10_000, ...filter } }) =>
      reads.countTaskRuns(await storeFilter(reads, filter), { max }),
    'POST /api/runs': (call) => enqueueRun(deps.queue, call),
    'GET /api/runs/{id}': ({ params }) => found(params.id, (id) => reads.getTaskRun(id)),
    'GET /api/runs/{id}/payload': async ({ params }) =>
      (await found(params.id, (id) => reads.getTaskRun(id))).payloadText,
    'GET /api/runs/{id}/result': async ({ params }) =>
      (await found(params.id, (id) => reads.getTaskRun(id))).resultText ?? 'null',
    'GET /api/runs/{id}/why': async ({ params }) => {
      const why = await found(params.id, (id) => reads.whyNotRunning(id))
      return { ...why, sentences: why.reasons.map(sentenceOf) }
    },
    'GET /api/runs/{id}/logs': async ({ params, query: { after, limit } }) => {
      const [fence, lineNo] = (after ?? '').split('.').map(Number)
      const { lines, next } = await found(params.id, (id) =>
        reads.readTaskLogs(id, {
          ...(fence === undefined || lineNo === undefined ? {} : { after: { fence, lineNo } }),
          ...given({ limit }),
        }),
      )
      return { lines, ...(next && { next }) }
    },
    'POST /api/runs/{id}/cancel': async ({ params, who, note }) => {
      const [answer = 'not-found'] = await writes.cancelTaskRuns([runIdOf(params.id)], `cancelled by ${who.name}`)
      note.answer = answer
      if (answer === 'not-found') throw noRun(params.id)
      if (answer === 'already-ended')
        throw conflict(`Run ${params.id} has ended.`, answer, 'A run that has ended cannot be cancelled.')
      return { answer }
    },
    'POST /api/runs/{id}/retry': async ({ params, note }) => {
      const answer = await writes.retryTaskRun(runIdOf(params.id))
      note.answer = answer
      if (answer === 'not-found') throw noRun(params.id)
      if (answer !== 'retried') throw conflict(`Run ${params.id} was not retried.`, answer, whyNotRetried[answer])
      return { answer }
    },
    'POST /api/runs/{id}/reveal': async ({ params, note }) => {
      const { payloadText, resultText, checkpointText } = await found(params.id, (id) => writes.getTaskRun(id))
      note.answer = 'revealed'
      return { payloadText, resultText, checkpointText }
    },
    'POST /api/runs/{id}/again': async ({ params, body: { payloadText }, who, note }) => {
      if (payloadText !== undefined) requireShallow(payloadText, 'payloadText')
      if (payloadText?.includes(`"${hidden}"`) === true)
        throw wrongParameters([
          { at: 'payloadText', problem: 'has a hidden value: write it, or leave the payload out' },
        ])
      const again = await writes.enqueueAgain(runIdOf(params.id), {
        by: who.name,
        ...given({ payload: payloadText }),
      })
      note.detail = { payload: payloadText === undefined ? 'same' : 'edited' }
      if (again === 'not-found') throw noRun(params.id)
      note.answer = `run ${again.runId}`
      return again
    },
  }
}

const whyNotRetried = {
  'not-ended': 'It is still waiting or running.',
  ending: 'It is a step of a workflow that has failed or was cancelled, and waits for its running steps.',
  compensated: 'It is a step of a workflow whose compensation has begun.',
  conflict: 'Another live run of the task has its unique key.',
} as const

async function found<T>(text: string, read: (id: RunId) => Promise<T | undefined>): Promise<T> {
  const value = await read(runIdOf(text))
  if (value === undefined) throw noRun(text)
  return value
}

function runIdOf(text: string): RunId {
  const id = asRunId(text)
  if (id === undefined) throw noRun(text)
  return id
}

function noRun(id: string) {
  return notFound(`There is no run ${id}.`)
}
