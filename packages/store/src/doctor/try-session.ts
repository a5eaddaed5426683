/**
 * Tests whether a session can do what a replica's session must: last from one transaction to the next, hold a lock that
 * the server shows, and receive its own NOTIFY.
 */
import { openSession } from '../connection/open-session.ts'
import { keepsSession } from '../connection/detect-pooler.ts'

export interface TriedSession {
  /** False: a pooler in transaction mode is in between. */
  readonly lasts: boolean
  readonly lockSeen: boolean
  readonly notified: boolean
}

const channel = 'q_doctor'
/** A different namespace from that of presence locks. */
const lockSpace = 0x71_64_6f_63

export async function trySession(url: string): Promise<TriedSession> {
  const received: string[] = []
  const session = await openSession(url, 'doctor', {
    onNotification: (name) => received.push(name),
    onLost: () => {},
  })
  try {
    if (!(await keepsSession(session, url))) return { lasts: false, lockSeen: false, notified: false }
    await session.query(`LISTEN ${channel}`)
    const [row] = await session.query<{ seen: boolean }>(
      `SELECT pg_try_advisory_lock_shared(${lockSpace}, pg_backend_pid()) AND EXISTS (SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND classid = ${lockSpace}::oid AND pid = pg_backend_pid()) AS seen`,
    )
    await session.query(`NOTIFY ${channel}`)
    // The server sends a notification of our own before the answer to the next statement.
    await session.query('SELECT 1')
    return { lasts: true, lockSeen: row?.seen === true, notified: received.includes(channel) }
  } finally {
    session.close()
  }
}
