/**
 * Becoming a user of the server: a session that holds the users' lock, shared.
 *
 * Who leaves last takes the same lock exclusively and stops the server while holding it, so a refused lock means:
 * this server is about to go. The order inside matters. The lock is taken first, and only then a second, new connection
 * is made: a stopping server cuts the leaver's session before ours, and for that moment the lock looks free, but a
 * stopping server accepts no new connection. Lock and new connection together mean that it lives and will stay.
 */
import type { Cluster } from './cluster.ts'
import { DATABASE } from './cluster.ts'
import { foreign } from './data-dir.ts'
import type { EmbeddedError } from './embedded-error.ts'
import { closeSession, createDatabase, openSession, type Session, sqlStateOf } from './session.ts'

export interface Admitted {
  readonly session: Session
  readonly version: string
  readonly durable: boolean
  /** Somebody else holds the lock too. */
  readonly hasOthers: boolean
}

export interface Refused {
  readonly refused: string
}

/** Any pair will do, as long as it stays the same: versions of this package meet on one server. */
export const USERS_LOCK = '113, 1'

const MAINTENANCE_DATABASE = 'postgres'

export async function askAdmission(cluster: Cluster, port: number): Promise<Admitted | Refused> {
  let session: Session | undefined
  try {
    session = await openSession(cluster, port, MAINTENANCE_DATABASE)
    const admitted = await takePlace(cluster, session)
    if ('refused' in admitted) await closeSession(session)
    else await proveAlive(cluster, port, session)
    return admitted
  } catch (error) {
    if (session !== undefined) await closeSession(session)
    if (['28P01', '28000'].includes(sqlStateOf(error) ?? '')) throw wrongPassword(cluster)
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

/** For leaving when the own session is lost: no lock is taken. */
export function openMaintenance(cluster: Cluster, port: number): Promise<Session> {
  return openSession(cluster, port, MAINTENANCE_DATABASE)
}

async function takePlace(cluster: Cluster, session: Session): Promise<Admitted | Refused> {
  const { rows } = await session.query<{ system_id: string; version: string; fsync: string; locked: boolean }>(
    `SELECT system_identifier::text AS system_id,
            current_setting('server_version') AS version,
            current_setting('fsync') AS fsync,
            pg_try_advisory_lock_shared(${USERS_LOCK}) AS locked
       FROM pg_control_system()`,
  )
  const [server] = rows
  if (server?.system_id !== cluster.systemId) return { refused: 'another server answers on this port' }
  if (!server.locked) return { refused: 'its last user is stopping it' }
  const others = await session.query(
    `SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND (classid, objid, objsubid) = (${USERS_LOCK}, 2)
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND pid <> pg_backend_pid()`,
  )
  return { session, version: server.version, durable: server.fsync === 'on', hasOthers: others.rowCount !== 0 }
}

/** A new connection, to the database that is handed out: created here if it is missing. */
async function proveAlive(cluster: Cluster, port: number, session: Session): Promise<void> {
  try {
    await closeSession(await openSession(cluster, port, DATABASE))
  } catch (error) {
    if (sqlStateOf(error) !== '3D000') throw error
    await createDatabase(session)
    await closeSession(await openSession(cluster, port, DATABASE))
  }
}

function wrongPassword(cluster: Cluster): EmbeddedError {
  return foreign(cluster.dataDir, 'The running server does not accept the password that lies beside its data.')
}
