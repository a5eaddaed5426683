/**
 * `pnpm chaos:promotion`: kills the primary under two replicas with runs in flight, and promotes its standby.
 *
 * No replica may be reaped: locks of the old primary do not count on the new one. Runs that cannot be started elsewhere
 * must continue and finish; the others must be stopped by their own replica and run again.
 */
import { presetOption, scriptOptions } from '@q/schema/script-options'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { queue } from '@q/client'
import { startEmbedded } from '@q/embedded'
import { connect, migrateDatabase } from '@q/store'
import { until } from './observations.ts'
import { startReplica } from './processes.ts'
import { startStandby } from './standby.ts'
import { startTcpSwitch } from './tcp-switch.ts'
import type * as tasks from './tasks.ts'

const values = scriptOptions('chaos:promotion', {
  seconds: { number: 10, least: 1, means: 'how long there is no primary' },
  preset: presetOption,
})
const awayMs = values.seconds * 1_000
const workMs = awayMs + 20_000
const home = realpathSync(mkdtempSync(join(tmpdir(), 'q-promotion-')))
chmodSync(home, 0o711)
await using ends = new AsyncDisposableStack()
ends.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
const primary = await startEmbedded({ dataDir: join(home, 'primary') })
ends.defer(async () => void (await primary.close()))
await migrateDatabase(primary.url)
const standby = await startStandby(primary, join(home, 'standby'))
ends.defer(async () => void (await standby.server.close()))
const front = await startTcpSwitch(primary.url)
ends.defer(front.close)
const env = { DATABASE_URL: front.url, Q_PRESET: values.preset, Q_THREADS: '4' }
const replicas = [await startReplica(env), await startReplica(env)]
const { db, close } = connect(front.url, { purpose: 'pool' })
ends.defer(close)
const q = queue<typeof tasks>(front.url)
ends.defer(() => q.close())
ends.defer(async () => {
  for (const replica of replicas) replica.kill('SIGKILL')
  await Promise.all(replicas.map((replica) => replica.exited))
})
process.exitCode = (await promotion()) ? 0 : 1

async function promotion(): Promise<boolean> {
  const names = ['lasting', 'lastingOnce'] as const
  const runs = await Promise.all(
    Array.from({ length: 8 }, (_, index) => q.enqueue(names[index % 2] ?? 'lasting', { ms: workMs })),
  )
  const views = () => Promise.all(runs.map((run) => run.status()))
  await until(async () => (await views()).every(({ status }) => status === 'RUNNING'), 'all runs begin')
  const claimed = new Map((await views()).map(({ id, replicaId }) => [id, replicaId]))
  const pidFile = join(primary.dataDir, 'cluster', 'data', 'postmaster.pid')
  process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGQUIT')
  console.log(`the primary died with ${runs.length} runs in flight`)
  await sleep(awayMs)
  await standby.promote()
  front.point(standby.server.url)
  console.log(`promoted the standby ${awayMs / 1_000} s later`)
  await until(async () => (await views().catch(() => [])).some(({ status }) => status === 'SUCCEEDED'), 'the first end')
  await until(async () => (await views()).every(({ result }) => result !== null), 'all runs end')
  for (const { id, task, status, attempt, replicaId } of await views()) {
    const moved = claimed.get(id) === replicaId ? 'same replica' : 'other replica'
    console.log(`run ${id}  ${task.padEnd(12)} ${status}  attempt ${attempt}  ${moved}`)
  }
  const fenced = replicas.flatMap(({ lines }) => lines.filter(({ msg }) => msg.startsWith('stopped runs that others')))
  console.log(`${fenced.flatMap(({ runIds }) => runIds).length} runs were stopped by their own replica, and ran again`)
  const recoveries = await db.selectFrom('q.recovery').selectAll().execute()
  const present = await db.selectFrom('q.presence').select('replica_id').where('gone_at', 'is', null).execute()
  console.log(`${recoveries.length} runs were reaped; ${present.length} replicas are present on the new primary`)
  const isWell = (await views()).every(({ status, attempt }) => status === 'SUCCEEDED' && attempt === 1)
  return isWell && recoveries.length === 0 && present.length === replicas.length
}
