/**
 * The counts of this replica's runs since its start, by queue and task, for metrics. They grow when a flush takes the
 * current counts, so they add no cost to a run.
 *
 * The first 200 pairs of queue and task keep their names, and later ones are counted as `other`: a count never moves
 * from one name to another. Totals never fall, although a run that is withdrawn before it begins is no longer counted
 * as started.
 */
import { addTally, emptyTally, type OpenTally, type RunTally } from '@q/store'

export interface RunTotals {
  add(tallies: Iterable<RunTally>): void
  /** The totals including `open`, the counts that no flush has taken yet. */
  read(open: Iterable<RunTally>): readonly RunTally[]
}

const otherName = 'other'
const pairsMax = 200

export function createRunTotals(): RunTotals {
  const taken = new Map<string, OpenTally>()
  const queues = new Set<string>()
  /** The totals of the last read. */
  let shown = new Map<string, RunTally>()

  /** The name under which a pair is counted. */
  function keyOf({ queue, task }: RunTally): [queue: string, task: string] {
    if (taken.has(`${queue}\n${task}`)) return [queue, task]
    if (taken.size < pairsMax) {
      queues.add(queue)
      taken.set(`${queue}\n${task}`, emptyTally(queue, task))
      return [queue, task]
    }
    return [queues.has(queue) ? queue : otherName, otherName]
  }

  function addTo(sums: Map<string, OpenTally>, tallies: Iterable<RunTally>): void {
    for (const tally of tallies) {
      const [queue, task] = keyOf(tally)
      const key = `${queue}\n${task}`
      let sum = sums.get(key)
      if (sum === undefined) sums.set(key, (sum = emptyTally(queue, task)))
      addTally(sum, tally)
    }
  }

  return {
    add: (tallies) => addTo(taken, tallies),
    read(open) {
      const now = new Map<string, OpenTally>()
      addTo(now, open)
      addTo(now, taken.values())
      shown = new Map([...now].map(([key, tally]) => [key, neverLess(tally, shown.get(key))]))
      return [...shown.values()]
    },
  }
}

function neverLess(tally: RunTally, before: RunTally | undefined): RunTally {
  if (before === undefined) return tally
  return {
    ...tally,
    started: Math.max(tally.started, before.started),
    waitMs: Math.max(tally.waitMs, before.waitMs),
    wait: tally.wait.map((count, bucket) => Math.max(count, before.wait[bucket] ?? 0)),
  }
}
