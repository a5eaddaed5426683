/** One connection to the server, and the meaning of its connection errors. */
import { Client, DatabaseError } from 'pg'
import type { Cluster } from './cluster.ts'
import { databaseName, roleName } from './cluster.ts'

export type ServerSession = Client

const connectMsMax = 5_000
const queryMsMax = 10_000

/** Sets every value, so that no PG* variable of the caller is used. */
export async function openServerSession(cluster: Cluster, port: number, database: string): Promise<ServerSession> {
  const session = new Client({
    host: '127.0.0.1',
    port,
    user: roleName,
    password: cluster.password,
    database,
    ssl: false,
    application_name: 'q embedded member',
    connectionTimeoutMillis: connectMsMax,
    query_timeout: queryMsMax,
    keepAlive: true,
  })
  // A session that the server ends emits 'error' first; without a listener that would end the process.
  session.on('error', () => undefined)
  await session.connect()
  return session
}

export async function closeSession(session: ServerSession): Promise<void> {
  await session.end().catch(() => undefined)
}

/** A forgotten leave() must not keep a process alive. Not in the declarations of `pg`, but in its client. */
export function letProcessEnd(session: ServerSession): void {
  ;(session as ServerSession & { unref(): void }).unref()
}

export function keepProcessAlive(session: ServerSession): void {
  ;(session as ServerSession & { ref(): void }).ref()
}

/** `CREATE DATABASE` has no IF NOT EXISTS, and another process may be creating it at the same time. */
export async function createDatabase(session: ServerSession): Promise<void> {
  try {
    await session.query(`CREATE DATABASE ${databaseName}`)
  } catch (error) {
    if (!['42P04', '23505'].includes(sqlStateOf(error) ?? '')) throw error
  }
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}
