/** `pnpm bench:heartbeat`: what one sign of life costs the code that gives it. `--rounds`, `--json`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import { benchHeartbeat } from './bench-heartbeat.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { json: { type: 'boolean', default: false }, rounds: { type: 'string', default: '20000000' } },
})
if (!/^[1-9]\d{0,9}$/.test(values.rounds)) throw new Error(`--rounds must be a whole number, not ${values.rounds}`)

const server = await startEmbedded({ dataDir: join(import.meta.dirname, '../../../.q/bench-postgres') })
try {
  await migrateDatabase(server.url)
  const costs = await benchHeartbeat(server.url, Number(values.rounds))
  const byCost = Object.entries(costs).toSorted(([, a], [, b]) => a - b)
  const lines = byCost.map(([name, ns]) => `${name.padEnd(28)} ${ns.toFixed(1).padStart(10)} ns`)
  console.log(values.json ? JSON.stringify(costs) : lines.join('\n'))
} finally {
  await server.leave()
}
