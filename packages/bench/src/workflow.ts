/** `pnpm bench:workflow`: what a wide workflow costs, from its start to its end. `--width`, `--batch`, `--json`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '@q/embedded'
import { connect, migrateDatabase } from '@q/store'
import { sql } from 'kysely'
import { benchWorkflow } from './bench-workflow.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    json: { type: 'boolean', default: false },
    width: { type: 'string', default: '10000' },
    batch: { type: 'string', default: '200' },
  },
})

const server = await startEmbedded({ dataDir: join(import.meta.dirname, '../../../.q/bench-postgres') })
const maintenance = connect(server.url, { purpose: 'migrate' })
const name = `bench_workflow_${process.pid}`
try {
  await sql`CREATE DATABASE ${sql.id(name)}`.execute(maintenance.db)
  const figures = await benchFresh(Object.assign(new URL(server.url), { pathname: name }).href)
  const lines = figures.map(({ what, tookMs, steps }) => {
    const each = `${((tookMs * 1000) / steps).toFixed(0)} µs a step`
    return `${what.padEnd(44)} ${tookMs.toFixed(0).padStart(7)} ms ${steps > 1 ? each.padStart(18) : ''}`
  })
  console.log(values.json ? JSON.stringify(figures) : lines.join('\n'))
} finally {
  await sql`DROP DATABASE IF EXISTS ${sql.id(name)} WITH (FORCE)`.execute(maintenance.db)
  await maintenance.close()
  await server.leave()
}

async function benchFresh(url: string) {
  await migrateDatabase(url)
  const connection = connect(url, { purpose: 'pool', quiet: true })
  try {
    return await benchWorkflow(connection, Number(values.width), Number(values.batch))
  } finally {
    await connection.close()
  }
}
