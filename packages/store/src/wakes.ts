/**
 * Wakes: hints that something became available or ended. Losing one costs latency, never correctness: everyone who
 * listens also polls.
 *
 * `q_ready` carries a queue, sent by producers after their commit (a NOTIFY inside every commit would serialise them).
 * `q_ended` carries run ids, sent by settling, only if somebody waits.
 */
import { sql } from 'kysely'
import type { Db } from './db.ts'
import { endSession, session } from './db.ts'
import type { RunId } from './lease.ts'

export type Wake =
  | { readonly channel: 'q_ready'; readonly queue: string }
  | { readonly channel: 'q_ended'; readonly runIds: RunId[] }

export async function wakeQueue(db: Db, queue: string): Promise<void> {
  await sql`SELECT pg_notify('q_ready', ${queue})`.execute(db)
}

export interface Listener {
  close(): void
}

/** Listens on a session of its own until closed or lost; `onLost` is called once, and it is for the caller to come back. */
export async function listen(
  url: string,
  channel: Wake['channel'],
  handlers: { onWake: (wake: Wake) => void; onLost: (error: Error | undefined) => void },
): Promise<Listener> {
  const client = session(url, 'listen')
  let open = true
  const lost = (error?: Error) => {
    if (open) handlers.onLost(error)
    open = false
  }
  client.on('error', lost)
  client.on('end', () => lost())
  client.on('notification', ({ payload = '' }) => handlers.onWake(wakeOf(channel, payload)))
  try {
    await client.connect()
    await client.query(channel === 'q_ready' ? 'LISTEN q_ready' : 'LISTEN q_ended')
  } catch (error) {
    open = false
    endSession(client)
    throw error
  }
  return {
    close() {
      open = false
      endSession(client)
    },
  }
}

function wakeOf(channel: Wake['channel'], payload: string): Wake {
  return channel === 'q_ready' ? { channel, queue: payload } : { channel, runIds: payload.split(',') as RunId[] }
}
