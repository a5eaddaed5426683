/**
 * Registers this process as a user of the server: a session holds the users' lock in shared mode.
 *
 * The last user takes the lock exclusively and stops the server while holding it, so a denied lock means that the server is
 * stopping. The order matters: first the lock, then a second, new connection. A stopping server ends the session of the last
 * user before ours, so the lock may look free for a moment; but it accepts no new connection. Lock and new connection together
 * prove that the server stays up.
 */
import type { Cluster } from './cluster.ts'
import { databaseName } from './cluster.ts'
import { foreign } from './data-dir.ts'
import type { EmbeddedError } from './embedded-error.ts'
import { closeSession, createDatabase, openServerSession, type ServerSession, sqlStateOf } from './server-session.ts'

export interface JoinedServer {
  readonly session: ServerSession
  readonly version: string
  readonly durable: boolean
  /** Whether another process holds the lock too. */
  readonly hasOthers: boolean
}

export interface JoinRefused {
  readonly refused: string
}

/** An arbitrary pair that must never change: all versions of this package share it. */
export const usersLock = '113, 1'

const maintenanceDatabase = 'postgres'

export async function tryToJoin(cluster: Cluster, port: number): Promise<JoinedServer | JoinRefused> {
  let session: ServerSession | undefined
  try {
    session = await openServerSession(cluster, port, maintenanceDatabase)
    const joined = await takeUsersLock(cluster, session)
    if ('refused' in joined) await closeSession(session)
    else await checkAlive(cluster, port, session)
    return joined
  } catch (error) {
    if (session !== undefined) await closeSession(session)
    if (['28P01', '28000'].includes(sqlStateOf(error) ?? '')) throw wrongPassword(cluster)
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

/** A session without the lock, for leaving after the own session was lost. */
export function openMaintenanceSession(cluster: Cluster, port: number): Promise<ServerSession> {
  return openServerSession(cluster, port, maintenanceDatabase)
}

async function takeUsersLock(cluster: Cluster, session: ServerSession): Promise<JoinedServer | JoinRefused> {
  const { rows } = await session.query<{ system_id: string; version: string; fsync: string; locked: boolean }>(
    `SELECT system_identifier::text AS system_id,
            current_setting('server_version') AS version,
            current_setting('fsync') AS fsync,
            pg_try_advisory_lock_shared(${usersLock}) AS locked
       FROM pg_control_system()`,
  )
  const [server] = rows
  if (server?.system_id !== cluster.systemId) return { refused: 'another server answers on this port' }
  if (!server.locked) return { refused: 'its last user is stopping it' }
  const others = await session.query(
    `SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND (classid, objid, objsubid) = (${usersLock}, 2)
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND pid <> pg_backend_pid()`,
  )
  return { session, version: server.version, durable: server.fsync === 'on', hasOthers: others.rowCount !== 0 }
}

/** Opens a new connection to the database of the URL, and creates it if it is missing. */
async function checkAlive(cluster: Cluster, port: number, session: ServerSession): Promise<void> {
  try {
    await closeSession(await openServerSession(cluster, port, databaseName))
  } catch (error) {
    if (sqlStateOf(error) !== '3D000') throw error
    await createDatabase(session)
    await closeSession(await openServerSession(cluster, port, databaseName))
  }
}

function wrongPassword(cluster: Cluster): EmbeddedError {
  return foreign(cluster.dataDir, 'The running server does not accept the password stored with its data.')
}
