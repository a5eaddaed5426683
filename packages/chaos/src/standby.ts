/**
 * Creates a standby of an embedded server: copies its data while it runs, like a backup, and then follows it.
 * Replication is synchronous, because otherwise a promotion would lose acknowledged commits.
 */
import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEmbedded, type EmbeddedServer } from '@q/embedded'
import { connect } from '@q/store'
import { sql } from 'kysely'
import { until } from './observations.ts'

export interface Standby {
  readonly server: EmbeddedServer
  /** Promotes the standby to an independent server. */
  promote(): Promise<void>
}

export async function startStandby(primary: EmbeddedServer, dataDir: string): Promise<Standby> {
  const { db, close } = connect(primary.url, { purpose: 'migrate' })
  try {
    const data = join(dataDir, 'cluster', 'data')
    const label = await db.connection().execute(async (session) => {
      await sql`SELECT pg_backup_start('standby', true)`.execute(session)
      mkdirSync(dataDir, { recursive: true })
      // Keeps owners and modes: a server refuses data of another owner.
      await promisify(execFile)('cp', ['-a', join(primary.dataDir, 'cluster'), dataDir])
      const { rows } = await sql<{ labelfile: string }>`SELECT labelfile FROM pg_backup_stop(false)`.execute(session)
      return rows[0]?.labelfile ?? ''
    })
    rmSync(join(data, 'postmaster.pid'), { force: true })
    const settings = join(data, 'postgresql.auto.conf')
    writeFileSync(settings, `${readFileSync(settings, 'utf8')}primary_conninfo = '${conninfo(primary.url)}'\n`)
    const { uid, gid } = statSync(data)
    for (const [name, text] of [
      ['backup_label', label],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(join(data, name), text, { mode: 0o600 })
      chownSync(join(data, name), uid, gid)
    }
    const server = await startEmbedded({ dataDir })
    await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`.execute(db)
    await sql`SELECT pg_reload_conf()`.execute(db)
    await until(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`.execute(db)
      return rows.length === 1
    }, 'the standby follows')
    return { server, promote: () => promote(server.url) }
  } finally {
    await close()
  }
}

async function promote(url: string): Promise<void> {
  const { db, close } = connect(url, { purpose: 'migrate' })
  try {
    await sql`SELECT pg_promote(true)`.execute(db)
  } finally {
    await close()
  }
}

function conninfo(url: string): string {
  const { hostname, port, username, password } = new URL(url)
  return `host=${hostname} port=${port} user=${username} password=${password}`
}
