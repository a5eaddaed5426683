/**
 * The session that a replica keeps open, for its presence lock and its LISTEN channels.
 *
 * When the process dies, the kernel closes the socket and PostgreSQL drops the lock, which the watcher notices within a
 * second (presence.ts). The lock is SHARED: an exclusive lock would conflict with the replica's own half-open old session.
 * The replica pings the session several times within the grace, and verifies from time to time that it is still the same
 * backend and still listens.
 *
 * A pooler that lends a backend per transaction has no sessions. That is detected before anything is locked
 * (detect-pooler.ts).
 */
import { openSession, type DedicatedSession } from '../connection/open-session.ts'
import { backendOf, keepsSession } from '../connection/detect-pooler.ts'
import { passWakes, type Channel, type ListenHandlers } from '../wakes.ts'
import { enterPresence, presenceLocks } from './presence.ts'

export interface ReplicaSession {
  /** Resolves when the server answers: the backend that holds the lock is alive. Costs no transaction. */
  ping(): Promise<void>
  /** Rejects if the server does not answer, or the session has changed. Close it then and open another. */
  verify(): Promise<void>
  close(): void
}

export interface ReplicaSessionHandlers extends ListenHandlers {
  /** Called when its record may exist, even if the session never becomes ready. */
  readonly onEntering?: () => void
}

export interface SessionOwner {
  readonly id: string
  readonly num: number
}

const channels: readonly Channel[] = [
  'q_available',
  'q_ready',
  'q_gated',
  'q_due',
  'q_cancel',
  'q_drain',
  'q_schedule',
  'q_operation',
  'q_destination',
]

/** Returns undefined if connections do not keep their session here. */
export async function openReplicaSession(
  url: string,
  replica: SessionOwner,
  handlers: ReplicaSessionHandlers,
): Promise<ReplicaSession | undefined> {
  const session = await openSession(url, 'session', {
    onNotification: passWakes(handlers),
    onLost: handlers.onLost,
  })
  const pid = await session.prepare(async (query) => {
    if (!(await keepsSession(session, url))) return undefined
    await query('SET idle_session_timeout = 0')
    for (const channel of channels) await query(`LISTEN ${channel}`)
    handlers.onEntering?.()
    await query('SELECT pg_try_advisory_lock_shared($1, $2)', [presenceLocks, replica.num])
    await query(enterPresence, [replica.num, replica.id])
    return backendOf(session)
  })
  if (pid === undefined) {
    session.close()
    return undefined
  }
  return { ping: session.ping, verify: () => verifySession(session, replica, pid), close: session.close }
}

async function verifySession(session: DedicatedSession, replica: SessionOwner, pid: number): Promise<void> {
  // Also writes the record again, in case a late withdrawal has removed it.
  await session.query(enterPresence, [replica.num, replica.id])
  const [backend] = await session.query<{ pid: number; listens: number }>(
    'SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM pg_listening_channels()) AS listens',
  )
  if (backend?.pid !== pid || backend.listens < channels.length)
    throw new Error('The session now belongs to another client.')
}
