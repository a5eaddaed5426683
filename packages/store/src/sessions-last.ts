/**
 * Does a connection keep its session from one transaction to the next? Not behind a pooler that lends a backend per
 * transaction: there a lock would be somebody else's a moment later, LISTEN is forgotten, and prepared statements are
 * not where they were made.
 *
 * When the server itself greeted us, the number in its greeting is that of our backend, and the answer is certain. Else
 * somebody stands in between who greets in its place, and it is tried: several connections are kept inside transactions,
 * so that a pooler runs out of idle backends and gives one of them ours, or us another one. Each time we use ours first: a
 * pooler hands out what was used last, and would else give it back to us again and again, below those that the others
 * take. Once is not enough: others use the same pooler meanwhile.
 */
import { randomUUID } from 'node:crypto'
import { openSession, type OwnSession } from './open-session.ts'

const roundsMax = 5
const others = 4

export async function sessionsLast(url: string): Promise<boolean> {
  const session = await openSession(url, 'probe', { onLost: () => {} })
  try {
    return await lasts(session, url)
  } finally {
    session.close()
  }
}

/** The same, of a session that is open. */
export async function lasts(session: OwnSession, url: string): Promise<boolean> {
  const before = await backendOf(session)
  if (before === session.greetedBy()) return true
  const token = randomUUID()
  await session.ask(`SELECT set_config('q.session', $1, false)`, [token])
  for (let round = 0; round < roundsMax; round++) {
    if (!(await survives(session, { token, before, url }))) return false
  }
  return true
}

export async function backendOf(session: Pick<OwnSession, 'ask'>): Promise<number> {
  const [row] = await session.ask<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return row?.pid ?? 0
}

interface Known {
  readonly token: string
  readonly before: number
  readonly url: string
}

async function survives(session: OwnSession, { token, before, url }: Known): Promise<boolean> {
  const isOurs = async () => {
    const [now] = await session.ask<{ pid: number; token: string | null }>(
      `SELECT pg_backend_pid() AS pid, current_setting('q.session', true) AS token`,
    )
    return now?.pid === before && now.token === token
  }
  const busy = await openOthers(url)
  try {
    if (!(await isOurs())) return false
    for (const other of busy) {
      await other.ask('BEGIN')
      if ((await backendOf(other)) === before) return false
    }
    return await isOurs()
  } finally {
    for (const other of busy) {
      await other.ask('ROLLBACK').catch(() => {})
      other.close()
    }
  }
}

/** As many as can be had; with none it cannot be tried. */
async function openOthers(url: string): Promise<OwnSession[]> {
  const open: OwnSession[] = []
  for (let count = 0; count < others; count++) {
    try {
      open.push(await openSession(url, 'probe', { onLost: () => {} }))
    } catch (error) {
      if (open.length === 0) throw error
      return open
    }
  }
  return open
}
