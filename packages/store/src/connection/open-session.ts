/**
 * A dedicated session, for what only a session can hold: LISTEN, and a lock that the server drops when the process dies.
 * It is lost once and reports that once; a caller that needs it again opens another. A session that breaks before it is
 * ready only fails its opening or preparation and reports no loss.
 */
import type { QueryConfig } from 'pg'
import { closeSessionClient, createSessionClient, type Origin } from './db.ts'
import { ping } from './pipeline.ts'

export interface DedicatedSession {
  /** Rejects if there is no answer in time; the session can then no longer be used. */
  query: SessionQuery
  /** Resolves when the server answers, without a transaction. A session that is lost in the meantime never answers. */
  ping(): Promise<void>
  /** Work that must succeed for the session to be kept; if it fails, the session is closed and reports no loss. */
  prepare<T>(work: (query: SessionQuery) => Promise<T>): Promise<T>
  /** The pid of the backend as in the greeting; a pooler invents one. */
  announcedBackendPid(): number
  close(): void
}

export type SessionQuery = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface SessionHandlers {
  readonly onNotification?: (channel: string, payload: string) => void
  readonly onLost: (error: Error | undefined) => void
}

const answerMsMax = 5_000

export async function openSession(
  origin: Origin,
  purpose: string,
  handlers: SessionHandlers,
): Promise<DedicatedSession> {
  const client = createSessionClient(origin, purpose)
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
    closeSessionClient(client)
  }
  const query: SessionQuery = async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const config: QueryConfig & { query_timeout: number } = { text, values: [...values], query_timeout: answerMsMax }
    return (await client.query<Row>(config)).rows
  }
  client.on('error', lost)
  client.on('end', () => lost())
  client.on('notification', ({ channel, payload = '' }) => handlers.onNotification?.(channel, payload))
  async function prepare<T>(work: (query: SessionQuery) => Promise<T>): Promise<T> {
    ready = false
    try {
      const prepared = await work(query)
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
    query,
    ping: () => ping(client),
    prepare,
    close,
    announcedBackendPid: () => Number(Reflect.get(client, 'processID')),
  }
}
