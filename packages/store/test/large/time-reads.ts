/** Times every read for operators as a program calls it, one after the other, and prints p50 and p95, slowest first. */
import { availableParallelism, loadavg } from 'node:os'
import { connect, createStore, type RunId } from '@q/store'
import { operatorReads } from '../plans/operator-reads.ts'

/** The budget of docs/operations.md. */
const budgetMs = 200

export async function timeReads(url: string, times: number): Promise<void> {
  const connection = connect(url, { purpose: 'pool', connectionsMax: 1 })
  const store = createStore(connection.db)
  try {
    const { runs } = await store.listTaskRuns({}, { limit: 1 })
    const runId = runs[0]?.id ?? ('1' as RunId)
    const timed: { read: string; p50: number; p95: number }[] = []
    for (const { of, read } of operatorReads) {
      const took: number[] = []
      for (let n = 0; n < times; n++) {
        const begun = performance.now()
        await read(store, runId)
        took.push(performance.now() - begun)
      }
      const sorted = took.toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      timed.push({ read: of, p50: at(0.5), p95: at(0.95) })
    }
    const slow = timed.filter(({ p95 }) => p95 > budgetMs)
    for (const { read, p50, p95 } of timed.toSorted((a, b) => b.p95 - a.p95))
      console.log(`${read.padEnd(32)} p50 ${p50.toFixed(1).padStart(8)} ms   p95 ${p95.toFixed(1).padStart(8)} ms`)
    console.log(
      `\n${timed.length} reads, ${times} times each; ${slow.length} of them with p95 above ${budgetMs} ms. Load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores.`,
    )
  } finally {
    await connection.close()
  }
}
