/**
 * `pnpm chaos:cancel`: cancels runs that execute endless loops. Measures the time until each is CANCELLED, which is
 * when its code can no longer act: it must be less than a second.
 *
 * Uses two replicas with the preset default, so that no heartbeat is due for half a minute. Alternates between code
 * that gives signs of life, which its heartbeat() stops, and code that ignores the request, whose thread is terminated.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { spread, summary, until } from './observations.ts'
import { startReplicaSet } from './replica-set.ts'

const values = scriptOptions('chaos:cancel', {
  rounds: { number: 20, least: 1, means: 'runs of each kind to cancel' },
  preset: presetOption,
})
const promisedMs = 1_000

await using fleet = await startReplicaSet(2, { Q_PRESET: values.preset, Q_THREADS: '1' })
const { q, store } = fleet
for (const name of ['beating', 'deaf'] as const) {
  const took: number[] = []
  for (let round = 1; round <= values.rounds; round++) took.push(await cancel(name))
  console.log(`${name.padEnd(8)} ${took.length} cancels: ${summary(took)}`)
  if (spread(took).max >= promisedMs) process.exitCode = 1
}

async function cancel(name: 'beating' | 'deaf'): Promise<number> {
  const run = await q.enqueue(name, {})
  await until(async () => (await run.status()).status === 'RUNNING', 'it runs')
  const requestedMs = performance.now()
  await store.cancelTaskRuns([run.id])
  await until(async () => (await run.status()).status === 'CANCELLED', 'it is cancelled')
  return performance.now() - requestedMs
}
