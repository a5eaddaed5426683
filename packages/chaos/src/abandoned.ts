/**
 * `pnpm chaos:abandoned`: manual SQL sets a run to RUNNING for a replica that never existed, while another one runs.
 *
 * Uses the preset default. Measures the time from that UPDATE until the run is FAILED with the documented text: at most
 * one check interval (30 s) and a small margin. The updates are spread over the time between two checks.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { setTimeout as sleep } from 'node:timers/promises'
import { queue } from '@q/client'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'
import { sql } from 'kysely'
import { until } from './observations.ts'
import { startReplica } from './processes.ts'
import type * as tasks from './tasks.ts'

const values = scriptOptions('chaos:abandoned', {
  rounds: { number: 3, least: 1, means: 'runs to abandon' },
  preset: presetOption,
})
const text = 'Task run abandoned: owning replica stopped responding'
const withinMs = 35_000
const restMsMax = 15_000

const database = await testDatabase()
const { db, close } = connect(database.url, { purpose: 'pool' })
const q = queue<typeof tasks>(database.url)
// It works on its own queue, so that it does not claim the run before the UPDATE.
const replica = await startReplica({ DATABASE_URL: database.url, Q_PRESET: values.preset, Q_QUEUES: 'another' })
let well = true
try {
  for (let round = 1; round <= values.rounds; round++) {
    if (round > 1) await sleep(Math.random() * restMsMax)
    well = (await abandon(round)) && well
  }
} finally {
  replica.kill('SIGKILL')
  await replica.exited
  await q.close()
  await close()
  await database.drop()
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
