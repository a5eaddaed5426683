/**
 * `pnpm bench:idle`: transactions per second of replicas that have nothing to do. `--replicas 3`, `--seconds 60`, `--json`.
 * It fails when the first replica, which has every duty, needs more than 3, or one without a duty more than 1.5.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import { benchIdle, type IdleCost } from './bench-idle.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    json: { type: 'boolean', default: false },
    replicas: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
  },
})
const wanted = { withDuties: 3, withoutDuty: 1.5 }
/** Until polls of a quiet replica have reached their longest interval. */
const settleMs = 30_000

const server = await startEmbedded({ dataDir: join(import.meta.dirname, '../../../.q/bench-postgres') })
try {
  await migrateDatabase(server.url)
  const options = { replicasMax: Number(values.replicas), settleMs, measureMs: 1_000 * Number(values.seconds) }
  const costs = await benchIdle(server.url, options, values.json ? undefined : (cost) => console.log(lineOf(cost)))
  if (values.json) console.log(JSON.stringify(costs))
  process.exitCode = costs.every(isCheapEnough) ? 0 : 1
} finally {
  await server.leave()
}

function lineOf({ replicas, perSecond }: IdleCost): string {
  return `${replicas} replica${replicas === 1 ? '' : 's'}: ${perSecond.toFixed(2)} transactions/s`
}

function isCheapEnough({ perSecond }: IdleCost, index: number, costs: readonly IdleCost[]): boolean {
  const before = costs[index - 1]?.perSecond ?? 0
  // The second replica is the deputy of the watch.
  return perSecond - before <= (index < 2 ? wanted.withDuties : wanted.withoutDuty)
}
