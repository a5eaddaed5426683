/** One connection to the server, and what its refusals mean. */
import { Client, DatabaseError } from 'pg'
import type { Cluster } from './cluster.ts'
import { DATABASE, ROLE } from './cluster.ts'

export type Session = Client

const CONNECT_MS_MAX = 5_000
const QUERY_MS_MAX = 10_000

/** Every value is given, so that no PG* variable of the caller's gets in. */
export async function openSession(cluster: Cluster, port: number, database: string): Promise<Session> {
  const session = new Client({
    host: '127.0.0.1',
    port,
    user: ROLE,
    password: cluster.password,
    database,
    ssl: false,
    application_name: 'q embedded keeper',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: QUERY_MS_MAX,
    keepAlive: true,
  })
  // A session that the server ends says 'error' first; without a listener that would end the process.
  session.on('error', () => undefined)
  await session.connect()
  return session
}

export async function closeSession(session: Session): Promise<void> {
  await session.end().catch(() => undefined)
}

/** A forgotten leave() must not keep a process alive. Not in the declarations of `pg`, but in its client. */
export function letProcessEnd(session: Session): void {
  ;(session as Session & { unref(): void }).unref()
}

export function keepProcessAlive(session: Session): void {
  ;(session as Session & { ref(): void }).ref()
}

/** `CREATE DATABASE` cannot say IF NOT EXISTS; somebody else may be creating it this very moment. */
export async function createDatabase(session: Session): Promise<void> {
  try {
    await session.query(`CREATE DATABASE ${DATABASE}`)
  } catch (error) {
    if (!['42P04', '23505'].includes(sqlStateOf(error) ?? '')) throw error
  }
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}
