/** Handlers of destinations and of the reports that they receive. */
import type { DestinationInput } from '@q/store'
import type { deliveryRoutes } from '../api/deliveries.ts'
import type { destinationRoutes } from '../api/destinations.ts'
import { conflict, notFound, Refusal } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

const redeliverMax = 1_000

type Keys = keyof typeof destinationRoutes | keyof typeof deliveryRoutes

export function destinationHandlers({ reads, writes }: HandlerDeps): Handlers<Keys> {
  const one = async (name: string) => {
    const found = (await reads.readDestinations()).find((destination) => destination.name === name)
    if (found === undefined) throw noDestination(name)
    return found
  }
  return {
    'GET /api/destinations': async () => ({ items: await reads.listDestinations() }),
    'PUT /api/destinations/{name}': async ({ params: { name }, body, note }) => {
      const input = { name, ...given(body) }
      // Loaded on first use: a server without destinations never needs it.
      const { destinationProblems, remoteProblems } = await import('@q/destinations')
      const problems = [...destinationProblems(input), ...remoteProblems(input)]
      if (problems.length > 0) throw wrongDestination(problems)
      const answer = await writes.putDestination(input as DestinationInput)
      note.answer = answer
      note.detail = { kind: body.kind, reports: body.reports }
      return { answer }
    },
    'DELETE /api/destinations/{name}': async ({ params: { name }, note }) => {
      const answer = await writes.removeDestination(name)
      note.answer = answer
      if (answer === 'not-found') throw noDestination(name)
      return { answer }
    },
    'POST /api/destinations/{name}/pause': async ({ params: { name }, body, who, note }) => {
      const answer = await writes.pauseDestination(name, { by: who.name, ...given(body) })
      note.answer = answer
      if (answer === 'not-found') throw noDestination(name)
      return { answer }
    },
    'POST /api/destinations/{name}/resume': async ({ params: { name }, note }) => {
      const answer = await writes.resumeDestination(name)
      note.answer = answer
      if (answer === 'not-found') throw noDestination(name)
      return { answer }
    },
    'POST /api/destinations/{name}/test': async ({ params: { name }, note }) => {
      const { testDestination } = await import('@q/destinations')
      const result = await testDestination(await one(name), (variable) => process.env[variable])
      note.answer = result.kind
      return { answer: result.kind, error: 'error' in result ? result.error : null }
    },
    'POST /api/destinations/{name}/redeliver': async ({ params: { name }, note }) => {
      const destination = (await one(name)).name
      const redelivered = await writes.redeliverGivenUp({ destination, limit: redeliverMax })
      note.answer = `${redelivered} reports`
      return { redelivered }
    },
    'GET /api/deliveries': async ({ query: { cursor, ...request }, cursors }) => {
      const { items, next } = await reads.listDeliveries({ ...given(request), ...cursors.open(cursor) })
      return { items, ...cursors.seal(next) }
    },
    'POST /api/deliveries/{id}/redeliver': async ({ params: { id }, note }) => {
      const answer = await writes.redeliver(id)
      note.answer = answer
      if (answer === 'not-found') throw notFound(`There is no delivery ${id}.`)
      if (answer === 'superseded')
        throw conflict(
          `Delivery ${id} was not sent again.`,
          answer,
          'A newer report about the same run or workflow was delivered or is being sent: an old status must not overwrite it.',
        )
      return { answer }
    },
  }
}

function noDestination(name: string) {
  return notFound(`There is no destination "${name}".`)
}

function wrongDestination(problems: readonly string[]): Refusal {
  return new Refusal(422, {
    code: 'DESTINATION_INVALID',
    what: 'The destination cannot be stored; nothing was changed.',
    why: problems.join(' '),
    fix: 'Correct what is named above; docs/reference/destinations.md describes the settings of each kind.',
  })
}
