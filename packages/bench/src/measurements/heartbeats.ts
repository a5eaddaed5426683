/** Measures the cost of heartbeats to the server: of one replica with many runs, and of many replicas. */
import { connect, createStore, type Connection, type Lease } from '@q/store'
import { meterCost } from '../machine/cost-meter.ts'
import { queryRows } from '../machine/database.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Measurement } from './measurement.ts'

const replicaId = 'bench-replic'
const sender = { replicaId, hostname: 'bench', pid: 1 }
const stats = {
  health: 'healthy',
  cpuPercent: 1,
  memoryMb: 1,
  activeRuns: 1,
  freeSlots: 1,
  completed: 1,
  failed: 0,
  uptimeS: 1,
} as const

export const heartbeats: Measurement = {
  name: 'heartbeats',
  title: 'Heartbeats',
  method: `The heartbeats of all runs of a replica in one statement, for 10 000 RUNNING runs, and the heartbeats of 1000 replicas that exist in
the database alone, one after the other. A replica sends both every 10 s or less often (preset \`default\`).`,
  entrants: [qRetry],
  figures: [
    { key: 'runsMs', title: 'heartbeat of 10 000 runs, ms', better: 'less' },
    { key: 'runsServerUs', title: 'server CPU of it, µs/run', better: 'less' },
    { key: 'fleetMs', title: 'heartbeats of 1000 replicas, ms', better: 'less' },
    { key: 'fleetServerUs', title: 'server CPU of them, µs/replica', better: 'less' },
  ],
  long: true,
  async sample(bench) {
    await using database = await bench.server.database(qRetry.contender)
    const connection = connect(database.url, { purpose: 'control' })
    try {
      const runs = await beatRuns(bench, connection, database.url)
      const fleet = await beatFleet(bench, connection, database.url)
      return { runsMs: runs.ms, runsServerUs: runs.serverUs, fleetMs: fleet.ms, fleetServerUs: fleet.serverUs }
    } finally {
      await connection.close()
    }
  },
}

async function beatRuns(bench: Bench, { db }: Connection, url: string) {
  const count = bench.sizes.heldRuns
  await queryRows(url, 'SET session_replication_role = replica')
  const leases = await queryRows<Lease>(
    url,
    `INSERT INTO q.task_run (lane, task, status, fence, attempt, replica_id, claimed_at, started_at)
     SELECT 1, 'held', 'RUNNING', 1, 1, '${replicaId}', now(), now() FROM generate_series(1, ${count})
     RETURNING id AS "runId", fence`,
  )
  await queryRows(url, 'VACUUM (ANALYZE) q.task_run')
  const store = createStore(db)
  const beats = leases.map((lease) => ({ lease, thread: 0, ageMs: 0, progress: null, note: null }))
  await store.beatTaskRuns(sender, beats) // The first heartbeat inserts a row for each run.
  return timed(bench, count, async () => {
    const answers = await store.beatTaskRuns(sender, beats)
    const alive = answers.filter((answer) => answer === 'alive').length
    if (alive !== count) throw new Error(`${alive} of ${count} heartbeats were accepted.`)
  })
}

async function beatFleet(bench: Bench, { db }: Connection, url: string) {
  const count = bench.sizes.fleetReplicas
  const store = createStore(db)
  const idOf = (number: number) => `bench-${String(number).padStart(6, '0')}`
  await queryRows(
    url,
    `INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat)
     SELECT 'bench-' || lpad(i::text, 6, '0'), now() FROM generate_series(0, ${count - 1}) i`,
  )
  return timed(bench, count, async () => {
    for (let number = 0; number < count; number++) await store.upsertReplicaHeartbeat(idOf(number), stats)
  })
}

async function timed({ server }: Bench, count: number, work: () => Promise<void>) {
  const costs = await meterCost(server, [])
  const begunMs = performance.now()
  await work()
  const ms = performance.now() - begunMs
  const { serverUs } = await costs()
  return { ms, serverUs: serverUs / count }
}
