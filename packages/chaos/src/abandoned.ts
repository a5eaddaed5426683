/**
 * `pnpm chaos:abandoned`: manual SQL sets a run to RUNNING for a replica that never existed, while another one runs.
 *
 * Uses the preset default. Measures the time from that UPDATE until the run is FAILED with the documented text: at most
 * one check interval (30 s) and a small margin. The updates are spread over the time between two checks.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { until } from './observations.ts'
import { startReplicaSet } from './replica-set.ts'

const values = scriptOptions('chaos:abandoned', {
  rounds: { number: 3, least: 1, means: 'runs to abandon' },
  preset: presetOption,
})
const text = 'Task run abandoned: owning replica stopped responding'
const withinMs = 35_000
const restMsMax = 15_000

// It works on its own queue, so that it does not claim the run before the UPDATE.
await using fleet = await startReplicaSet(1, { Q_PRESET: values.preset, Q_QUEUES: 'another' })
const { db, q } = fleet
let well = true
for (let round = 1; round <= values.rounds; round++) {
  if (round > 1) await sleep(Math.random() * restMsMax)
  well = (await abandon(round)) && well
}
process.exitCode = well ? 0 : 1

async function abandon(round: number): Promise<boolean> {
  const run = await q.enqueue('lastingOnce', { ms: 1 })
  const begunMs = performance.now()
  await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = ${run.id}`.execute(db)
  await until(async () => (await run.status()).status !== 'RUNNING', 'it is found')
  const tookMs = Math.round(performance.now() - begunMs)
  const { status, result } = await run.status()
  const { code, detail } = (result ?? {}) as { code?: string; detail?: string }
  console.log(`${String(round).padStart(3)}  ${tookMs} ms  ${status} ${code}: ${detail}`)
  return status === 'FAILED' && detail === text && tookMs <= withinMs
}
