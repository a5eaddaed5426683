/**
 * The one session a replica keeps open: its presence lock and its ears.
 *
 * When the process dies the kernel closes the socket and PostgreSQL drops the lock, which somebody who looks every
 * second sees (presence.ts). The lock is SHARED, or a replica's own half-open old session would refuse it. The session
 * answers several times within the grace, and proves from time to time that it still is what it was: the same backend,
 * which still listens.
 *
 * Behind a pooler that lends a backend per transaction there are no sessions. That is found before anything is locked
 * (sessions-last.ts).
 */
import { openSession, type OwnSession } from '../open-session.ts'
import { backendOf, lasts } from '../sessions-last.ts'
import { wakeOf, type Channel, type ListenHandlers } from '../wakes.ts'
import { enterPresence, presenceLocks } from './presence.ts'

export interface ReplicaSession {
  /** Resolves when the server answers: the backend that holds the lock is alive. Costs no transaction. */
  ping(): Promise<void>
  /** Rejects when the server does not answer, or the session is not what it was. Close it then, and open another. */
  prove(): Promise<void>
  close(): void
}

export interface ReplicaSessionHandlers extends ListenHandlers {
  /** From now on its record may be there, also if the session never becomes ready. */
  readonly onEntering?: () => void
}

export interface SessionOwner {
  readonly id: string
  readonly num: number
}

const channels: readonly Channel[] = ['q_ready', 'q_gated', 'q_due', 'q_cancel', 'q_drain', 'q_schedule']

/** Undefined: there are no lasting sessions here. */
export async function openReplicaSession(
  url: string,
  replica: SessionOwner,
  handlers: ReplicaSessionHandlers,
): Promise<ReplicaSession | undefined> {
  const session = await openSession(url, 'session', {
    onNotification: (channel, payload) => handlers.onWake(wakeOf(channel, payload)),
    onLost: handlers.onLost,
  })
  const pid = await session.prepare(async (ask) => {
    if (!(await lasts(session, url))) return undefined
    await ask('SET idle_session_timeout = 0')
    for (const channel of channels) await ask(`LISTEN ${channel}`)
    handlers.onEntering?.()
    await ask('SELECT pg_try_advisory_lock_shared($1, $2)', [presenceLocks, replica.num])
    await ask(enterPresence, [replica.num, replica.id])
    return backendOf(session)
  })
  if (pid === undefined) {
    session.close()
    return undefined
  }
  return { ping: session.ping, prove: () => prove(session, replica, pid), close: session.close }
}

async function prove(session: OwnSession, replica: SessionOwner, pid: number): Promise<void> {
  // Also enters the record again, should a late withdrawal have removed it.
  await session.ask(enterPresence, [replica.num, replica.id])
  const [told] = await session.ask<{ pid: number; listens: number }>(
    'SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM pg_listening_channels()) AS listens',
  )
  if (told?.pid !== pid || told.listens < channels.length) throw new Error('The session was given to somebody else.')
}
