/** What heartbeat monitors cost a worker, beside the figures that the protocol names: 20 MB, 1 % of a core, 1 KB a heartbeat. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startCountingProxy } from '../machine/counting-proxy.ts'
import type { MonitorCosts } from '../monitor/monitor-process.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Entrant, Figures, Measurement } from './measurement.ts'

export const monitor: Measurement = {
  name: 'monitor',
  title: 'Heartbeat monitors',
  method: `10, 50 and 100 monitors in one process, on one store, each with a heartbeat per second; memory is what they add to the
process. A proxy counts the bytes of their heartbeats in both directions. Then 10 processes with one monitor each.`,
  entrants: [qRetry],
  figures: [
    { key: 'mbFew', title: 'MB per monitor, 10', better: 'less' },
    { key: 'mbSome', title: 'MB per monitor, 50', better: 'less' },
    { key: 'mbMany', title: 'MB per monitor, 100', better: 'less' },
    { key: 'cpuMs', title: 'CPU of a heartbeat, ms', better: 'less' },
    { key: 'bytes', title: 'bytes of a heartbeat', better: 'less' },
    { key: 'processMb', title: 'MB of a process with one', better: 'less' },
  ],
  once: true,
  long: true,
  sample,
}

async function sample({ server, sizes }: Bench, { contender }: Entrant): Promise<Figures> {
  await using database = await server.database(contender)
  await using proxy = await startCountingProxy(database.url)
  const { few, some, many, ms, processes } = sizes.monitors
  const atFew = await costsOf(database.url, few, ms)
  const atSome = await costsOf(database.url, some, ms)
  const atMany = await costsOf(database.url, many, ms)
  await costsOf(proxy.url, many, 0)
  const startBytes = proxy.count().bytes
  const { heartbeats } = await costsOf(proxy.url, many, ms)
  const bytes = proxy.count().bytes - 2 * startBytes
  const alone = await Promise.all(Array.from({ length: processes }, () => costsOf(database.url, 1, ms)))
  return {
    mbFew: atFew.addedMb / few,
    mbSome: atSome.addedMb / some,
    mbMany: atMany.addedMb / many,
    cpuMs: atMany.cpuMs / atMany.heartbeats,
    bytes: bytes / heartbeats,
    processMb: alone.reduce((sum, { processMb }) => sum + processMb, 0) / alone.length,
  }
}

const program = fileURLToPath(new URL('../monitor/monitor-process.ts', import.meta.url))

async function costsOf(url: string, monitors: number, ms: number): Promise<MonitorCosts> {
  const args = [...process.execArgv, program, url, String(monitors), String(ms)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as MonitorCosts
}
