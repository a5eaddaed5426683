/**
 * Measures the cost of heartbeat monitors to a worker, compared with the protocol's limits: 20 MB, 1 % of a core, 1 KB
 * per heartbeat.
 */
import { spawn } from 'node:child_process'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startCountingProxy, type CountingProxy } from '../machine/counting-proxy.ts'
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
  const costs = new Map<number, MonitorCosts & { readonly bytes: number }>()
  for (const monitors of new Set([few, some, many])) costs.set(monitors, await costsOf(proxy, monitors, ms))
  const alone = await Promise.all(Array.from({ length: processes }, () => costsOf(proxy, 1, ms)))
  const perMonitor = (monitors: number) => (costs.get(monitors)?.addedMb ?? 0) / monitors
  const { cpuMs = 0, bytes = 0, heartbeats = 1 } = costs.get(many) ?? {}
  return {
    mbFew: perMonitor(few),
    mbSome: perMonitor(some),
    mbMany: perMonitor(many),
    cpuMs: cpuMs / heartbeats,
    bytes: bytes / heartbeats,
    processMb: alone.reduce((sum, { processMb }) => sum + processMb, 0) / alone.length,
  }
}

const program = fileURLToPath(import.meta.resolve(`../monitor/monitor-process${extname(import.meta.url)}`))

/** `bytes`: sent through the proxy in the meantime. */
async function costsOf(proxy: CountingProxy, monitors: number, ms: number) {
  const child = spawn(process.execPath, [...process.execArgv, program, proxy.url, String(monitors), String(ms)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let before = 0
  let costs: (MonitorCosts & { readonly bytes: number }) | undefined
  for await (const line of createInterface(child.stdout)) {
    const { bytes } = proxy.count()
    if (line === 'measuring') before = bytes
    else costs = { ...(JSON.parse(line) as MonitorCosts), bytes: bytes - before }
  }
  if (costs === undefined) throw new Error('The process with monitors ended without figures.')
  return costs
}
