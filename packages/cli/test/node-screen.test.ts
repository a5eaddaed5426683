/** The screens of one node and of one run: what is unknown is not shown as a number, and crashes are no attempts. */
import { afterAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { introduction } from '../../store/test/replica-registration.ts'
import { exampleCluster } from './example-cluster.ts'
import { q } from './terminal.ts'

const cluster = await exampleCluster()
const { env } = cluster
afterAll(() => cluster.close())

const node = async (name: string) => (await q(['node', name], env, { columns: 80 })).stdout

test('a node that has stopped says when, and neither a heartbeat nor a count that is no longer on record', async () => {
  await cluster.execute(sql`UPDATE q.replica SET stopped_at = now() - interval '5 minutes' WHERE id = 'aaaaaaaaaaa2'`)
  await cluster.execute(sql`DELETE FROM q.replica_heartbeat WHERE replica_id = 'aaaaaaaaaaa2'`)
  const text = await node('aaaaaaaaaaa2')
  expect(text).toMatch(/^stopped +\S.* \(5 min ago\)$/m)
  expect(text).not.toMatch(/^heartbeat|completed/m)
})

test('an external worker without figures has no load, and recovery is not its task', async () => {
  const worker = { ...introduction('owner:agent', 'agent'), preset: 'external', recovers: false }
  await cluster.store.registerReplica(worker)
  const figures = { cpuPercent: 0, memoryMb: 0, completed: 0, failed: 0, uptimeS: 0 }
  await cluster.store.upsertReplicaHeartbeat('owner:agent', {
    health: 'healthy',
    activeRuns: 0,
    freeSlots: 1,
    ...figures,
  })
  const text = await node('agent')
  expect(text).toMatch(/^load +\d+\/\d+ slots; it sends no figures$/m)
  expect(text).not.toMatch(/^executed|^recovery|up 0 ms/m)
  const { stdout } = await q(['nodes', '--wide'], env)
  expect(stdout).toMatch(/^agent .* - +- +healthy +- /m)
  expect(stdout.split('\n').find((line) => line.startsWith('agent'))).not.toContain('recovery is off')
})

test('bars of CPU are drawn against all cores, and the highest value stands beside them', async () => {
  await cluster.execute(sql`INSERT INTO q.replica_sample (replica_id, sampled_at, health, cpu_percent, memory_mb, active_runs, free_slots, completed, failed)
    SELECT 'aaaaaaaaaaa1', now() - n * interval '5 minutes', 'healthy', 0.4 + n / 10.0, 100, 0, 2, 0, 0 FROM generate_series(1, 3) n`)
  expect(await node('eu-1')).toMatch(/^CPU, last hour {2}▁+ {2}at most 1 %$/m)
})

test('attempts that crashed are counted apart, not as those that errors may use', async () => {
  const { lost } = cluster.runs
  expect((await q(['show', lost], env)).stdout).toMatch(/^attempt +1, 1 crashed;/m)
  expect((await q(['runs', '--status', 'failed', '--wide'], env)).stdout).toMatch(/ 1, 1 crashed /)
})
