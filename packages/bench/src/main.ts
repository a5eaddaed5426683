/**
 * `pnpm bench:store`: what the server pays per run, on a PostgreSQL of our own with durable writes.
 * `--json` for programs; `--rows`, `--batch` and `--rounds` to look closer.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '@q/embedded'
import { connect, migrateDatabase } from '@q/store'
import { sql } from 'kysely'
import { benchStore } from './bench-store.ts'
import { report } from './report.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    json: { type: 'boolean', default: false },
    rows: { type: 'string', default: '20000' },
    batch: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
  },
})
const rows = whole('rows', values.rows)
const batch = whole('batch', values.batch)
const rounds = whole('rounds', values.rounds)

const server = await startEmbedded({ dataDir: join(import.meta.dirname, '../../../.q/bench-postgres') })
const maintenance = connect(server.url, { purpose: 'migrate' })
const name = `bench_${process.pid}`
try {
  await sql`CREATE DATABASE ${sql.id(name)}`.execute(maintenance.db)
  const figures = await benchFresh(Object.assign(new URL(server.url), { pathname: name }).href)
  console.log(values.json ? JSON.stringify({ rows, batch, rounds, figures }) : report(figures))
} finally {
  await sql`DROP DATABASE IF EXISTS ${sql.id(name)} WITH (FORCE)`.execute(maintenance.db)
  await maintenance.close()
  await server.leave()
}

async function benchFresh(url: string) {
  await migrateDatabase(url)
  const connection = connect(url, { purpose: 'turn', quiet: true })
  try {
    const onProgress = (line: string) => console.error(line)
    return await benchStore({ connection, rows, batch }, { rounds, onProgress })
  } finally {
    await connection.close()
  }
}

function whole(option: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${option} must be a whole number, not ${text}`)
  return Number(text)
}
