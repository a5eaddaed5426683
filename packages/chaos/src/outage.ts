/**
 * `pnpm chaos:outage`: stops the database for 90 s and starts it again, under two replicas with runs in flight.
 *
 * No run may be recovered: runs that cannot be started elsewhere must continue and finish; the others must be stopped
 * by their own replica and run again.
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
import type * as tasks from './tasks.ts'

const values = scriptOptions('chaos:outage', {
  seconds: { number: 90, least: 1, means: 'how long the database is away' },
  preset: presetOption,
})
const awayMs = values.seconds * 1_000
const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'q-outage-')))
chmodSync(dataDir, 0o711)
let server = await startEmbedded({ dataDir })
await migrateDatabase(server.url)
const env = { DATABASE_URL: server.url, Q_PRESET: values.preset, Q_THREADS: '4' }
const replicas = [await startReplica(env), await startReplica(env)]
const { db, close } = connect(server.url, { purpose: 'pool' })
const q = queue<typeof tasks>(server.url)
let well = false
try {
  well = await outage()
} finally {
  for (const replica of replicas) replica.kill('SIGKILL')
  await Promise.all(replicas.map((replica) => replica.exited))
  await q.close()
  await close()
  await server.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = well ? 0 : 1

async function outage(): Promise<boolean> {
  const names = ['lasting', 'lastingOnce'] as const
  const runs = await Promise.all(
    Array.from({ length: 8 }, (_, index) => q.enqueue(names[index % 2] ?? 'lasting', { ms: awayMs + 20_000 })),
  )
  const views = () => Promise.all(runs.map((run) => run.status()))
  await until(async () => (await views()).every(({ status }) => status === 'RUNNING'), 'all runs begin')
  const claimed = new Map((await views()).map(({ id, replicaId }) => [id, replicaId]))
  process.kill(Number.parseInt(readFileSync(join(dataDir, 'cluster', 'data', 'postmaster.pid'), 'utf8'), 10), 'SIGINT')
  console.log(`stopped the database for ${awayMs / 1_000} s, with ${runs.length} runs in flight`)
  await sleep(awayMs)
  const before = server
  server = await startEmbedded({ dataDir })
  await before.close()
  console.log('started it again')
  await until(async () => (await views().catch(() => [])).some(({ status }) => status === 'SUCCEEDED'), 'the first end')
  await until(async () => (await views()).every(({ result }) => result !== null), 'all runs end')
  for (const { id, task, status, attempt, replicaId } of await views()) {
    const moved = claimed.get(id) === replicaId ? 'same replica' : 'other replica'
    console.log(`run ${id}  ${task.padEnd(12)} ${status}  attempt ${attempt}  ${moved}`)
  }
  const fencings = replicas.flatMap(({ lines }) =>
    lines.filter(({ msg }) => msg.startsWith('stopped runs that others')),
  )
  const fenced = new Set(fencings.flatMap(({ runIds }) => runIds as string[]))
  console.log(`${fenced.size} runs were stopped by their own replica, and ran again`)
  const recoveries = await db.selectFrom('q.recovery').selectAll().execute()
  const failures = await db.selectFrom('q.heartbeat_failure').selectAll().execute()
  console.log(
    `${recoveries.length} runs were reaped; ${failures.length} failed heartbeats were written down afterwards`,
  )
  // One kind was stopped and ran again, the other continued.
  const isRight = ({ id, task, status, attempt, replicaId }: Awaited<ReturnType<typeof views>>[number]) =>
    status === 'SUCCEEDED' &&
    attempt === 1 &&
    (task === 'lasting' ? fenced.has(id) : !fenced.has(id) && claimed.get(id) === replicaId)
  return recoveries.length === 0 && failures.length > 0 && (await views()).every(isRight)
}
