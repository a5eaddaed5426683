/** Handlers of history: errors, recoveries, actions; and the tasks that are published. */
import type { actionRoutes } from '../api/actions.ts'
import type { errorRoutes } from '../api/errors.ts'
import type { taskRoutes } from '../api/tasks.ts'
import { notFound } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

type Keys = keyof typeof errorRoutes | keyof typeof actionRoutes | keyof typeof taskRoutes

export function historyHandlers({ reads, writes }: HandlerDeps): Handlers<Keys> {
  return {
    'GET /api/errors': async ({ query: { cursor, ...request }, cursors }) => {
      const { next, ...page } = await reads.listErrorGroups({ ...given(request), ...cursors.open(cursor) })
      return { ...page, ...cursors.seal(next) }
    },
    'GET /api/errors/{fingerprint}': async ({ params }) => {
      const group = await reads.getErrorGroup(params.fingerprint)
      if (group === undefined) throw noGroup(params.fingerprint)
      return group
    },
    'PUT /api/errors/{fingerprint}/mute': async ({ params, body: { untilMs }, who, note }) => {
      note.answer = await writes.muteErrorGroup(params.fingerprint, { untilMs, by: who.name })
      if (note.answer === 'not-found') throw noGroup(params.fingerprint)
      return { answer: 'muted' }
    },
    'DELETE /api/errors/{fingerprint}/mute': async ({ params, note }) => {
      note.answer = await writes.muteErrorGroup(params.fingerprint, null)
      if (note.answer === 'not-found') throw noGroup(params.fingerprint)
      return { answer: 'unmuted' }
    },
    'GET /api/actions': async ({ query: { cursor, ...request }, cursors }) => {
      const { items, next } = await reads.listActions({ ...given(request), ...cursors.open(cursor) })
      return { items, ...cursors.seal(next) }
    },
    'GET /api/tasks': async () => ({ items: await reads.publishedTasks() }),
  }
}

function noGroup(fingerprint: string) {
  return notFound(`There is no group of errors ${fingerprint}.`)
}
