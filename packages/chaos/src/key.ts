/**
 * `pnpm chaos:key`: kills a replica that holds the only slot of a concurrency key, and measures the time until the next
 * run of the key is RUNNING elsewhere.
 *
 * Uses two replicas with the preset default, and kill -9. At most 5 s may pass from the signal until the successor is
 * RUNNING.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { setTimeout as sleep } from 'node:timers/promises'
import { spread, summary, until } from './observations.ts'
import type { ReplicaProcess } from './processes.ts'
import { startReplicaSet } from './replica-set.ts'

const values = scriptOptions('chaos:key', {
  rounds: { number: 10, least: 1, means: 'holders to kill' },
  preset: presetOption,
})
/** A watcher waits for the grace before it acts. */
const settledMs = 4_000
const promisedMs = 5_000

await using fleet = await startReplicaSet(2, { Q_PRESET: values.preset, Q_THREADS: '2' })
const { q, store } = fleet
const took: number[] = []
for (let round = 1; round <= values.rounds; round++) {
  await sleep(settledMs + Math.random() * 1_000)
  took.push(await killHolder(`key ${round}`))
  console.log(`${String(round).padStart(3)}  ${Math.round(took.at(-1) ?? 0)} ms`)
}
console.log(`\n${took.length} kills of a key's holder: ${summary(took)}`)
process.exitCode = spread(took).max <= promisedMs ? 0 : 1

async function killHolder(key: string): Promise<number> {
  const payload = { ms: 3_600_000, key }
  const first = await q.enqueue('lastingByKey', payload)
  await until(async () => (await first.status()).status === 'RUNNING', 'the first one runs')
  const second = await q.enqueue('lastingByKey', payload)
  const { replicaId } = await first.status()
  const victim = fleet.replicas.find(({ id }) => id === replicaId) as ReplicaProcess
  if ((await second.status()).status !== 'PENDING') throw new Error('Two runs of one key at a time.')
  const killedMs = performance.now()
  victim.kill('SIGKILL')
  await until(async () => (await second.status()).status === 'RUNNING', 'its successor runs')
  const tookMs = performance.now() - killedMs
  await store.cancelTaskRuns([second.id])
  await fleet.start()
  return tookMs
}
