/**
 * A process with a number of heartbeat monitors on one store: `monitor-process.ts <url> <monitors> <ms>`. Prints a line
 * when the measurement begins, and the cost as JSON when it ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HeartbeatMonitor } from '@q/runner/monitor'
import { connect, createStore, type Store } from '@q/store'

export interface MonitorCosts {
  /** Resident memory of the whole process, and what the monitors added. */
  readonly processMb: number
  readonly addedMb: number
  readonly heartbeats: number
  readonly cpuMs: number
}

const [url = '', monitors = '1', ms = '1000'] = process.argv.slice(2)
const connection = connect(url, { purpose: 'pool', connectionsMax: 2 })
const plain = createStore(connection.db)
let heartbeats = 0
const store: Store = {
  ...plain,
  upsertReplicaHeartbeat(...given) {
    heartbeats++
    return plain.upsertReplicaHeartbeat(...given)
  },
}
await store.listNodes() // opens the connections
const beforeMb = residentMb()
const each = Array.from(
  { length: Number(monitors) },
  (_, place) =>
    new HeartbeatMonitor(`worker-${process.pid}-${place}`, '', {
      store,
      heartbeat_interval: 1_000,
      stale_threshold: 60_000,
      detection_interval: 60_000,
    }),
)
await Promise.all(each.map((monitor) => monitor.start()))
const [before, beaten] = [process.cpuUsage(), heartbeats]
process.stdout.write('measuring\n')
await sleep(Number(ms))
const { user, system } = process.cpuUsage(before)
const processMb = residentMb()
const costs: MonitorCosts = {
  processMb,
  addedMb: processMb - beforeMb,
  heartbeats: heartbeats - beaten,
  cpuMs: (user + system) / 1_000,
}
process.stdout.write(`${JSON.stringify(costs)}\n`)
await Promise.all(each.map((monitor) => monitor.stop()))
await connection.close()

function residentMb(): number {
  return process.memoryUsage.rss() / 1_048_576
}
