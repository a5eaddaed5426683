/**
 * `pnpm fill:large`: fills an embedded database in `.q/large` with what a busy cluster has after a month (5 M finished runs,
 * 1 M ready ones in 1 000 groups, 10 000 at a concurrency key, 200 nodes), then times every read for operators and prints
 * p50 and p95. It continues where it was stopped and fills nothing twice, so a second call only times.
 *
 * `--scale 0.01` fills a hundredth, `--data-dir` another folder; `--only attention` times the reads with that in their name. Point a program at it: `Q_DATA_DIR=.q/large q status`.
 */
import { resolve } from 'node:path'
import { scriptOptions } from '@q/schema/script-options'
import { startEmbedded } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import type { DB } from '@q/schema'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import { fillFleet } from './fleet.ts'
import { fillRecords } from './records.ts'
import { fillRuns, sizesOf } from './runs.ts'
import { timeReads } from './time-reads.ts'

const values = scriptOptions('fill:large', {
  'data-dir': { text: '.q/large', means: 'folder of the database' },
  scale: { number: 1, least: 0.0001, fraction: true, means: 'part of the full size: 0.01 is a hundredth' },
  times: { number: 20, least: 1, means: 'how often each read is timed' },
  only: { text: '', means: 'time only the reads with this in their name' },
})
const server = await startEmbedded({
  dataDir: resolve(process.env['INIT_CWD'] ?? '.', values['data-dir']),
  onNotice: (sentence) => console.error(sentence),
})
// The triggers of q refuse runs that begin in a later state, and wake replicas: here neither is wanted.
const options = '-c session_replication_role=replica -c synchronous_commit=off -c maintenance_work_mem=512MB'
const db = new Kysely<DB>({
  dialect: new PostgresDialect({ pool: new Pool({ connectionString: server.url, options, max: 1 }) }),
})
try {
  await migrateDatabase(server.url)
  const sizes = sizesOf(values.scale)
  await fillFleet(db)
  await fillRuns(db, sizes, (done, all) => progress(`${millions(done)} of ${millions(all)} runs`))
  await fillRecords(db, sizes, (table) => progress(table))
  progress('VACUUM ANALYZE')
  await sql`VACUUM ANALYZE`.execute(db)
  const { rows } = await sql<{
    size: string
  }>`SELECT pg_size_pretty(pg_database_size(current_database())) AS size`.execute(db)
  progress('')
  console.log(`${rows[0]?.size} in ${server.dataDir}\n`)
  await timeReads(server.url, values.times, values.only)
} finally {
  await db.destroy()
  await server.close()
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${what}`)
  else if (what !== '') console.error(what)
}

function millions(runs: number): string {
  return `${(runs / 1e6).toFixed(2)} M`
}
