/**
 * Whether a connection keeps its session from one transaction to the next. Behind a pooler that lends a backend per
 * transaction it does not: a lock would soon belong to another client, LISTEN is lost, and prepared statements are missing.
 *
 * If the server itself sent the greeting, it contains the pid of our backend, and the answer is certain. Otherwise a proxy
 * answers in its place, and a test decides: several connections are kept inside transactions, so that a pooler runs out of
 * idle backends and gives one of them ours, or us another one. Each round uses ours first: a pooler hands out the backend
 * that was used last, and would otherwise return ours to us again and again. One round is not enough, because other
 * clients use the same pooler at the same time.
 */
import { randomUUID } from 'node:crypto'
import { openSession, type DedicatedSession } from './open-session.ts'

const roundsMax = 5
const otherSessions = 4

export async function keepsSessions(url: string): Promise<boolean> {
  const session = await openSession(url, 'probe', { onLost: () => {} })
  try {
    return await keepsSession(session, url)
  } finally {
    session.close()
  }
}

/** The same for an open session. */
export async function keepsSession(session: DedicatedSession, url: string): Promise<boolean> {
  const before = await backendOf(session)
  if (before === session.announcedBackendPid()) return true
  const token = randomUUID()
  await session.query(`SELECT set_config('q.session', $1, false)`, [token])
  for (let round = 0; round < roundsMax; round++) {
    if (!(await survivesRound(session, { token, before, url }))) return false
  }
  return true
}

export async function backendOf(session: Pick<DedicatedSession, 'query'>): Promise<number> {
  const [row] = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return row?.pid ?? 0
}

interface SessionMarks {
  readonly token: string
  readonly before: number
  readonly url: string
}

async function survivesRound(session: DedicatedSession, { token, before, url }: SessionMarks): Promise<boolean> {
  const isOurs = async () => {
    const [now] = await session.query<{ pid: number; token: string | null }>(
      `SELECT pg_backend_pid() AS pid, current_setting('q.session', true) AS token`,
    )
    return now?.pid === before && now.token === token
  }
  const busy = await openOtherSessions(url)
  try {
    if (!(await isOurs())) return false
    for (const other of busy) {
      await other.query('BEGIN')
      if ((await backendOf(other)) === before) return false
    }
    return await isOurs()
  } finally {
    for (const other of busy) {
      await other.query('ROLLBACK').catch(() => {})
      other.close()
    }
  }
}

/** Opens as many as possible; without any the test cannot run. */
async function openOtherSessions(url: string): Promise<DedicatedSession[]> {
  const open: DedicatedSession[] = []
  for (let count = 0; count < otherSessions; count++) {
    try {
      open.push(await openSession(url, 'probe', { onLost: () => {} }))
    } catch (error) {
      if (open.length === 0) throw error
      return open
    }
  }
  return open
}
