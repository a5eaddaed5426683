/**
 * Reads the live stream with `fetch`, so that headers can be sent. Yields frames until the stream ends or is aborted;
 * the caller reconnects. `onByte` is called for every received byte, including comments, as a sign of life.
 */
import type { z } from 'zod'
import type { eventRoutes, Frames } from '../api/events.ts'
import { addressOf, ApiProblem, problemIn, type ApiOptions } from './api.ts'

export type Frame = { [Name in keyof Frames]: { readonly event: Name; readonly data: Frames[Name] } }[keyof Frames]

export interface EventsRequest extends ApiOptions {
  readonly query: z.input<(typeof eventRoutes)['GET /api/events']['query']>
  readonly signal: AbortSignal
  readonly onByte?: () => void
}

export async function* openEvents(request: EventsRequest): AsyncGenerator<Frame, void> {
  const { base = '', headers = () => ({}), fetch = globalThis.fetch.bind(globalThis), query, signal } = request
  const response = await fetch(base + addressOf('/api/events', { query }), {
    headers: { ...headers(), Accept: 'text/event-stream' },
    signal,
  })
  if (!response.ok || response.body === null) {
    throw new ApiProblem(response.status, problemIn(response, await response.text()))
  }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let unread = ''
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      request.onByte?.()
      unread += decoder.decode(chunk.value, { stream: true })
      const blocks = unread.split('\n\n')
      unread = blocks.pop() ?? ''
      for (const block of blocks) yield* frameIn(block)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function* frameIn(block: string): Generator<Frame> {
  const lines = block.split('\n')
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [event, data] = [field('event'), field('data')]
  if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) as unknown } as Frame
}
