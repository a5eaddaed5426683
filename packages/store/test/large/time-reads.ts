/**
 * Times every read for operators as a program calls it, one after the other, and prints p50 and p95, slowest first, and the
 * CPU time of the read, of the server's process and of this one together: on a busy machine it alone says what a read costs.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { connect, createStore, type RunId } from '@q/store'
import { sql } from 'kysely'
import { operatorReads } from '../plans/operator-reads.ts'

/** The budget of docs/operations.md. */
const budgetMs = 200

interface Timed {
  readonly read: string
  readonly p50: number
  readonly p95: number
  /** Mean of one read. */
  readonly cpuMs: number
}

export async function timeReads(url: string, times: number, only = ''): Promise<void> {
  const connection = connect(url, { purpose: 'pool', connectionsMax: 1 })
  const store = createStore(connection.db)
  try {
    const backend = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(connection.db)
    const pid = backend.rows[0]?.pid ?? 0
    const { runs } = await store.listTaskRuns({}, { limit: 1 })
    const runId = runs[0]?.id ?? ('1' as RunId)
    const timed: Timed[] = []
    for (const { of, read } of operatorReads.filter((one) => one.of.includes(only))) {
      const took: number[] = []
      // The first of them fills caches.
      await read(store, runId)
      const cpu = cpuMs(pid)
      for (let n = 0; n < times; n++) {
        const begun = performance.now()
        await read(store, runId)
        took.push(performance.now() - begun)
      }
      const sorted = took.toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      timed.push({ read: of, p50: at(0.5), p95: at(0.95), cpuMs: (cpuMs(pid) - cpu) / times })
    }
    print(timed, times)
  } finally {
    await connection.close()
  }
}

function print(timed: readonly Timed[], times: number): void {
  const slow = timed.filter(({ p95 }) => p95 > budgetMs)
  const ms = (value: number) => `${value.toFixed(1).padStart(8)} ms`
  for (const { read, p50, p95, cpuMs: cpu } of timed.toSorted((a, b) => b.p95 - a.p95))
    console.log(`${read.padEnd(32)} p50 ${ms(p50)}   p95 ${ms(p95)}   CPU ${ms(cpu)}`)
  console.log(
    `\n${timed.length} reads, ${times} times each; ${slow.length} of them with p95 above ${budgetMs} ms. Load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores.`,
  )
}

/** Of the server's process and of this one; without /proc, of this one alone. */
function cpuMs(pid: number): number {
  const { user, system } = process.cpuUsage()
  try {
    const [onCpuNs = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    return (user + system) / 1_000 + onCpuNs / 1e6
  } catch {
    return (user + system) / 1_000
  }
}
