/**
 * One connection to the server's maintenance database, for CREATE and DROP DATABASE and for the advisory locks that
 * processes share.
 *
 * Database names cannot be parameters. Ours consist of `[a-z0-9_]` only, which is checked here.
 */
import { createHash } from 'node:crypto'
import { Client } from 'pg'
import type { LeftConnection } from './left-connections.ts'

export interface Maintenance extends AsyncDisposable {
  databases(prefix: string): Promise<string[]>
  has(name: string): Promise<boolean>
  create(name: string, template?: string): Promise<void>
  /** Waits for connections that are being closed. Returns the connections that are still open after `msMax`. */
  untilLeft(name: string, msMax: number): Promise<LeftConnection[]>
  /** Throws while connections to it are open, unless forced. */
  drop(name: string, how?: 'force'): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Rejects new connections to it, so that it can always be cloned. */
  seal(name: string): Promise<void>
  lock(name: string, mode: 'shared' | 'exclusive'): Promise<void>
  tryLock(name: string): Promise<boolean>
  unlock(name: string, mode: 'shared' | 'exclusive'): Promise<void>
}

/** The namespace of our advisory locks. */
const lockSpace = 0x71_74_65_73

export async function maintenance(url: string): Promise<Maintenance> {
  const client = new Client({ connectionString: url, application_name: 'q testing' })
  client.on('error', () => {}) // the next query says it better
  await client.connect()
  const run = async (text: string) => void (await client.query(text))
  const suffix = { shared: '_shared', exclusive: '' }
  const databases = async (prefix: string) => {
    const found = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1) order by datname',
      [prefix],
    )
    return found.rows.map((row) => row.name)
  }
  return {
    databases,
    has: async (name) => (await databases(name)).includes(name),
    create: (name, template = 'template0') => run(`create database ${plain(name)} template ${plain(template)}`),
    async untilLeft(name, msMax) {
      for (const end = performance.now() + msMax; ;) {
        const left = await client.query<LeftConnection>(
          'select application_name as application, state, query from pg_stat_activity where datname = $1',
          [name],
        )
        if (left.rows.length === 0 || performance.now() > end) return left.rows
        await client.query('select pg_sleep(0.02)')
      }
    },
    drop: (name, how) => run(`drop database if exists ${plain(name)}${how === 'force' ? ' with (force)' : ''}`),
    rename: (from, to) => run(`alter database ${plain(from)} rename to ${plain(to)}`),
    seal: (name) => run(`alter database ${plain(name)} allow_connections false`),
    lock: async (name, mode) =>
      void (await client.query(`select pg_advisory_lock${suffix[mode]}($1, $2)`, [lockSpace, keyOf(name)])),
    tryLock: async (name) => {
      const answer = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1, $2) as got', [
        lockSpace,
        keyOf(name),
      ])
      return answer.rows[0]?.got === true
    },
    unlock: async (name, mode) =>
      void (await client.query(`select pg_advisory_unlock${suffix[mode]}($1, $2)`, [lockSpace, keyOf(name)])),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

function plain(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) throw new Error(`Not a name for a test database: "${name}".`)
  return name
}

function keyOf(name: string): number {
  return createHash('sha256').update(name).digest().readInt32BE()
}
