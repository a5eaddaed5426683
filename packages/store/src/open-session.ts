/**
 * A session that is ours alone for as long as it lasts, for what only a session can hold: LISTEN, and a lock that the
 * server drops when we die. It is lost once, and says so once; whoever wants it back opens another. One that breaks before
 * it is ready was never had: opening or preparing it fails, and nothing else is told.
 */
import type { QueryConfig } from 'pg'
import { endSession, session, type Origin } from './db.ts'
import { ping } from './pipeline.ts'

export interface OwnSession {
  /** Rejects when there is no answer in time; the session is then of no use any more. */
  ask: Ask
  /** Resolves when the server answers, without a transaction. A session that is lost in the meantime never answers. */
  ping(): Promise<void>
  /** What must succeed for the session to be kept; else it is closed, and nobody is told that it was lost. */
  prepare<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  /** The number of the backend, as whoever greeted us gave it; a pooler makes one up. */
  greetedBy(): number
  close(): void
}

export type Ask = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface SessionHandlers {
  readonly onNotification?: (channel: string, payload: string) => void
  readonly onLost: (error: Error | undefined) => void
}

const answerMsMax = 5_000

export async function openSession(origin: Origin, purpose: string, handlers: SessionHandlers): Promise<OwnSession> {
  const client = session(origin, purpose)
  let open = true
  let ready = false
  let broken: Error | undefined
  const lost = (error?: Error) => {
    broken ??= error ?? new Error('Connection terminated unexpectedly')
    if (!ready) return
    if (open) handlers.onLost(error)
    open = false
  }
  const close = () => {
    open = false
    endSession(client)
  }
  const ask: Ask = async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const question: QueryConfig & { query_timeout: number } = { text, values: [...values], query_timeout: answerMsMax }
    return (await client.query<Row>(question)).rows
  }
  client.on('error', lost)
  client.on('end', () => lost())
  client.on('notification', ({ channel, payload = '' }) => handlers.onNotification?.(channel, payload))
  async function prepare<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    ready = false
    try {
      const prepared = await work(ask)
      if (broken !== undefined) throw broken
      ready = true
      return prepared
    } catch (error) {
      close()
      throw error
    }
  }
  await prepare(() => client.connect())
  return {
    ask,
    ping: () => ping(client),
    prepare,
    close,
    greetedBy: () => Number(Reflect.get(client, 'processID')),
  }
}
