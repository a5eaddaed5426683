/**
 * Measures the cost of work: processor time of the server with all backends, of the worker processes and of their main
 * threads, and write-ahead log.
 */
import { queryRows } from './database.ts'
import { mainThreadUs, treeCpuUs } from './processes.ts'
import type { BenchServer } from './server.ts'

export interface Cost {
  readonly serverUs: number
  readonly walBytes: number
  readonly mainThreadUs: number
  readonly workerUs: number
}

/** Starts to measure; the returned function returns the cost since then. */
export async function meterCost(server: BenchServer, pids: readonly number[]): Promise<() => Promise<Cost>> {
  const before = await look(server, pids)
  return async () => {
    const after = await look(server, pids)
    return {
      serverUs: after.serverUs - before.serverUs,
      walBytes: after.walBytes - before.walBytes,
      mainThreadUs: after.mainThreadUs - before.mainThreadUs,
      workerUs: after.workerUs - before.workerUs,
    }
  }
}

async function look({ url, postmasterPid }: BenchServer, pids: readonly number[]): Promise<Cost> {
  const sumOf = (measure: (pid: number) => number) => pids.reduce((sum, pid) => sum + measure(pid), 0)
  const [row] = await queryRows<{ bytes: number }>(url, `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes`)
  return {
    serverUs: treeCpuUs(postmasterPid),
    walBytes: row?.bytes ?? 0,
    mainThreadUs: sumOf(mainThreadUs),
    workerUs: sumOf(treeCpuUs),
  }
}
