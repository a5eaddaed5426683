/**
 * Writes reports to a memory server. A round reads the entities it touches, then adds what is new, then removes what is old:
 * a reader never finds a key without a value, and a round that failed half-way can be repeated. Rounds never overlap.
 */
import type { Report } from '../report.ts'
import type { Sender, SenderContext, SendResult } from '../sender.ts'
import { MemoryFailure } from './failure.ts'
import type { Graph } from './graph.ts'
import { keysUnder } from './keys.ts'
import { openMemory } from './memory.ts'
import { trimWorkers } from './old-workers.ts'
import { planRound } from './plan.ts'
import { bytesMax, bytesOf, inRounds } from './rounds.ts'
import { rememberSeries } from './series.ts'
import { readMemorySettings } from './settings.ts'
import { type Write, writesOf } from './writes.ts'

/** After this time no other round begins, so that the results of the earlier ones are not lost. */
const sendMsMax = 10_000

export async function openMemorySender({ settings, state, nowMs }: SenderContext): Promise<Sender> {
  const { file, command, prefix, locks } = readMemorySettings(settings)
  const keys = keysUnder(prefix)
  const memory = await openMemory({ file, command, nowMs })

  async function writeRound(graph: Graph, writes: readonly Write[]): Promise<void> {
    if (writes.length === 0) return
    const trims = [await rememberSeries(state, writes), await trimWorkers(state, keys, writes, nowMs())]
    const names = [...new Set(writes.map(({ key }) => key))]
    const plan = planRound(await graph.open(names), writes)
    if (plan.create.length > 0) await graph.create(plan.create)
    if (plan.add.length > 0) await graph.add(plan.add)
    if (plan.removeObservations.length > 0) await graph.removeObservations(plan.removeObservations)
    const remove = [...plan.remove, ...trims.flatMap(({ excess }) => excess)]
    if (remove.length > 0) await graph.remove(remove)
    for (const { forget } of trims) await forget()
  }

  async function sendAll(graph: Graph, reports: readonly Report[]): Promise<readonly SendResult[]> {
    const results = new Map<Report, SendResult>()
    const items = reports.map((report) => ({ report, writes: writesOf(report, keys, { locks }) }))
    const [large, fitting] = partition(items, ({ writes }) => bytesOf(writes) > bytesMax)
    for (const { report } of large) results.set(report, { kind: 'rejected', error: 'The report is larger than 1 MB.' })
    let failure: SendResult | undefined
    const sinceMs = nowMs()
    for (const round of inRounds(fitting)) {
      if (nowMs() - sinceMs > sendMsMax) failure ??= { kind: 'failed', error: 'The memory server is too slow.' }
      failure ??= await resultOf(() =>
        writeRound(
          graph,
          round.flatMap(({ writes }) => writes),
        ),
      )
      for (const { report } of round) results.set(report, failure ?? { kind: 'delivered' })
    }
    return reports.map((report) => results.get(report) ?? { kind: 'delivered' })
  }

  return {
    send: (reports) => memory.exclusively((graph) => sendAll(graph, reports)),
    async test() {
      return (await resultOf(() => memory.test(`${prefix}/test`))) ?? { kind: 'delivered' }
    },
    close: () => memory.close(),
  }
}

/** Undefined: it worked. */
async function resultOf(work: () => Promise<void>): Promise<SendResult | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const retryAfterMs = error instanceof MemoryFailure ? error.retryAfterMs : undefined
    return { kind: 'failed', error: message, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
}

function partition<T>(items: readonly T[], matches: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(matches), items.filter((item) => !matches(item))]
}
