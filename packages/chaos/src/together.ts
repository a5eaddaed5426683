/**
 * `pnpm chaos:together`: a replica and the database die at the same time. The survivors are killed and restarted one after
 * the other, before the heartbeats of any of them have been accepted for a whole threshold. It measures the time from the
 * return of the database until the dead replica holds no run. It fails when that took longer than the
 * threshold and one check, or when a run of a live replica was recovered with it.
 */
import { scriptOptions } from '@q/schema/script-options'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from '@q/embedded'
import { connect, createStore, migrateDatabase } from '@q/store'
import { recoveriesOf, until } from './observations.ts'
import { startReplica } from './processes.ts'

const values = scriptOptions('chaos:together', {
  restart: { number: 20, least: 1, means: 'seconds between two restarts of a survivor' },
})
const restartEveryMs = values.restart * 1_000
/** Preset default: 60 s, one check, and the start of a replica. */
const promisedMs = 95_000

const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'q-together-')))
chmodSync(dataDir, 0o711)
let server = await startEmbedded({ dataDir })
await migrateDatabase(server.url)
const env = { DATABASE_URL: server.url, Q_THREADS: '2' }
const holder = await startReplica({ ...env, Q_QUEUES: 'held' })
let survivors = [await startReplica(idle('a')), await startReplica(idle('b'))]
const { db, close } = connect(server.url, { purpose: 'pool' })
const store = createStore(db)
try {
  process.exitCode = (await together()) ? 0 : 1
} finally {
  for (const replica of [holder, ...survivors]) replica.kill('SIGKILL')
  await Promise.all([holder, ...survivors].map((replica) => replica.exited))
  await close()
  await server.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
}

async function together(): Promise<boolean> {
  const lane = await store.internLane({ queue: 'held', task: 'lastingOnce' })
  await store.enqueueTaskRuns([{ task: 'lastingOnce', lane, payload: { ms: 3_600_000 } }])
  await until(async () => (await store.heldTaskRuns(holder.id)).length === 1, 'the run begins')
  process.kill(Number.parseInt(readFileSync(join(dataDir, 'cluster', 'data', 'postmaster.pid'), 'utf8'), 10), 'SIGQUIT')
  holder.kill('SIGKILL')
  await holder.exited
  const before = server
  server = await startEmbedded({ dataDir })
  await before.close()
  const backMs = performance.now()
  let recovered = false
  const restarting = restartSurvivors(() => recovered)
  await until(async () => {
    recovered = await store.heldTaskRuns(holder.id).then(
      (held) => held.length === 0,
      () => false,
    )
    return recovered
  }, 'the run of the dead replica is recovered')
  const tookMs = performance.now() - backMs
  const restarts = await restarting
  const others = await db.selectFrom('q.recovery').selectAll().where('replica_id', '<>', holder.id).execute()
  console.log(
    `recovered ${Math.round(tookMs / 1_000)} s after the return of the database, with ${restarts} restarts: ${await recoveriesOf(db, holder.id)}; ${others.length} other recoveries`,
  )
  return tookMs <= promisedMs && others.length === 0
}

/** Restarts one after the other, so that one of the two can always send heartbeats. Resolves with the number of restarts. */
async function restartSurvivors(isOver: () => boolean): Promise<number> {
  let restarts = 0
  for (;;) {
    for (const endMs = performance.now() + restartEveryMs; performance.now() < endMs; await sleep(100)) {
      if (isOver()) return restarts
    }
    const [oldest, ...others] = survivors
    oldest?.kill('SIGKILL')
    survivors = [...others, await startReplica(idle(`r${restarts}`))]
    restarts++
  }
}

function idle(name: string): Record<string, string> {
  return { ...env, Q_QUEUES: 'another', Q_NAME: name }
}
