/** Unhealthy replicas, judged by the real memory of this process. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { connect } from '@q/store'
import { cluster, eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { holdingProxy } from './holding-proxy.ts'
import { marksFile } from './marks.ts'

const megabyte = 1_048_576
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function residentMb(): number {
  return Math.round(process.memoryUsage.rss() / megabyte)
}

test('a replica that is unhealthy from the start claims nothing and reports it; other replicas execute the runs', async () => {
  const { q, start, url } = await cluster()
  const { runner, events } = await start({ Q_PRESET: 'fast', Q_DEGRADED_MB: '1', Q_UNHEALTHY_MB: '1' })
  const run = await q.enqueue('echo', 1)
  const connection = connect(url, { purpose: 'control' })
  const beat = await eventually(
    () =>
      connection.db.selectFrom('q.replica_heartbeat').selectAll().where('health', '=', 'unhealthy').executeTakeFirst(),
    'it reports its health',
  )
  await connection.close()
  expect(beat.replica_id).toBe(runner.replicaId)
  expect(events.filter((event) => event.type === 'run-started')).toEqual([])
  const well = await start()
  expect(await run.result({ timeout: '100s' })).toBe(1)
  expect(await run.status()).toMatchObject({ replicaId: well.runner.replicaId })
})

test('a replica that becomes unhealthy releases runs that have not begun, continues the others, and claims again when it is healthy', async () => {
  const { q, start } = await cluster()
  const limitMb = String(residentMb() + 300)
  const env = { Q_PRESET: 'fast', Q_THREADS: '1', Q_PREFETCH: '1', Q_DEGRADED_MB: limitMb, Q_UNHEALTHY_MB: limitMb }
  const { runner, events } = await start(env)
  const { file: until, open } = gate()
  const busy = await q.enqueue('patient', { until })
  await eventually(async () => ((await busy.status()).status === 'RUNNING' ? true : undefined), 'start')
  const ahead = await q.enqueue('echo', 'ahead')
  await eventually(async () => ((await ahead.status()).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  let ballast: Buffer | undefined = Buffer.alloc(600 * megabyte, 1)
  await eventually(() => events.find((event) => event.type === 'runs-released'), 'released')
  expect(events).toContainEqual(expect.objectContaining({ type: 'health-changed', health: 'unhealthy' }))
  expect(await ahead.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  open()
  expect(await busy.result({ timeout: '100s' })).toBe('waited')
  expect(ballast.length).toBe(600 * megabyte)
  ballast = undefined
  await eventually(() => {
    collectGarbage()
    return residentMb() < Number(limitMb) ? true : undefined
  }, 'the memory is free again')
  expect(await ahead.result({ timeout: '100s' })).toBe('ahead')
  expect(await ahead.status()).toMatchObject({ replicaId: runner.replicaId, attempt: 1 })
})

test('a degraded replica releases the runs of its last claim, too', async () => {
  const { q, start, url } = await cluster()
  const proxy = await holdingProxy(url)
  const limitMb = String(residentMb() + 300)
  const env = { Q_PRESET: 'fast', Q_THREADS: '1', Q_PREFETCH: '1', Q_DEGRADED_MB: limitMb }
  const { runner, events } = await start(env, proxy.url)
  const busy = await q.enqueue('patient', { ms: 600_000 })
  await eventually(async () => ((await busy.status()).status === 'RUNNING' ? true : undefined), 'start')
  const held = proxy.hold('held-back')
  const ahead = await q.enqueue('echo', 'held-back')
  await held
  const ballast = Buffer.alloc(600 * megabyte, 1)
  await eventually(
    () => events.find((event) => event.type === 'health-changed' && event.health === 'degraded'),
    'degraded',
  )
  expect(await ahead.status()).toMatchObject({ status: 'CLAIMED' })
  proxy.release()
  await eventually(async () => ((await ahead.status()).status === 'AVAILABLE' ? true : undefined), 'released')
  expect(await ahead.status()).toMatchObject({ attempt: 0, replicaId: null })
  expect(ballast.length).toBe(600 * megabyte)
  // While it can still reach the database.
  void runner.drain()
  await runner.drain()
})

test('a degraded replica fills half of its slots', async () => {
  const { q, start } = await cluster()
  const marks = marksFile()
  await start({ Q_THREADS: '4', Q_DEGRADED_MB: '1' })
  const names = Array.from({ length: 6 }, (_, index) => `${index}`)
  const runs = await Promise.all(names.map((name) => q.enqueue('markOnce', { file: marks.file, name, ms: 200 })))
  await Promise.all(runs.map((run) => run.result({ timeout: '100s' })))
  let [busy, most] = [0, 0]
  for (const { what } of marks.all()) most = Math.max(most, (busy += what === 'began' ? 1 : -1))
  expect(most).toBe(2)
})
