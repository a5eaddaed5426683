/**
 * Who is served next: weighted round robin over queues, then over the groups of a queue, then over its tasks. Pure.
 *
 * Each one served moves on by 1/weight on a clock of its own; the one that is furthest behind is next. Whoever was away
 * comes back at the present: nobody is owed for the time he had nothing to do. The memory is the caller's, so a replica
 * that claims one run at a time is as fair as one that claims a hundred.
 */

/** Runs that are ready in one lane, of one priority and one group. */
export interface ReadyHead {
  readonly lane: number
  readonly task: string
  readonly queue: string
  readonly priority: number
  readonly group: string
  /** Of the group within its queue. */
  readonly weight: number
}

export interface Quota extends ReadyHead {
  readonly runs: number
  /** When its runs are in turn, counted over all quotas of a claim; undefined: it is the only one. */
  readonly turns?: readonly number[]
}

/** How far each queue, group and lane has been served; by what it is a part of. */
export type FairShares = Map<string, Map<string, number>>

export function createFairShares(): FairShares {
  return new Map()
}

/** Whether there is room for one more run of the task; the room is taken. */
export type Fits = (task: string) => boolean

/**
 * At most `limit` runs in all, all of the best priority there is; `weights` are those of queues, 1 unless said. If the
 * next run in turn does not fit, no later one is taken instead: a long run is not overtaken by short ones.
 */
export function quotasOf(
  shares: FairShares,
  heads: readonly ReadyHead[],
  limit: number,
  weights: Readonly<Record<string, number>> = {},
  fits: Fits = () => true,
): Quota[] {
  const best = heads.reduce((least, { priority }) => Math.min(least, priority), Number.POSITIVE_INFINITY)
  const first = heads.filter((head) => head.priority === best)
  if (first.length === 1)
    return first.map((head) => ({ ...head, runs: countThatFit(head, limit, fits) })).filter(({ runs }) => runs > 0)
  const queues = levelOf(shares, 'queues', first, (head) => head.queue, {
    weightOf: ({ queue }) => (Object.hasOwn(weights, queue) ? weights[queue] : undefined) ?? 1,
    below: (queue, ofQueue) =>
      levelOf(shares, queue, ofQueue, (head) => head.group, {
        weightOf: ({ weight }) => weight,
        below: (group, ofGroup) => levelOf(shares, `${queue}\0${group}`, ofGroup, (head) => String(head.lane)),
      }),
  })
  const turns = new Map<ReadyHead, number[]>()
  for (let turn = 0; turn < limit && first.length > 0; turn++) {
    const head = queues.next(fits)
    if (head === undefined) break
    const ofHead = turns.get(head)
    if (ofHead === undefined) turns.set(head, [turn])
    else ofHead.push(turn)
  }
  queues.save()
  return [...turns].map(([head, ofHead]) => ({ ...head, runs: ofHead.length, turns: ofHead }))
}

function countThatFit({ task }: ReadyHead, limit: number, fits: Fits): number {
  let runs = 0
  while (runs < limit && fits(task)) runs++
  return runs
}

/** The runs that a claim brought, each at its turn: a claim of a hundred is as fair as a hundred claims of one. */
export function inTurn<Row extends Pick<ReadyHead, 'lane' | 'priority' | 'group'>>(
  quotas: readonly Quota[],
  rows: readonly Row[],
): readonly Row[] {
  if (quotas.length < 2) return rows
  const next = new Map(quotas.map((quota) => [headKey(quota), { turns: quota.turns ?? [], at: 0 }]))
  const turnOf = (row: Row): number => {
    const head = next.get(headKey(row))
    return head?.turns[head.at++] ?? Number.POSITIVE_INFINITY
  }
  const placed = rows.map((row) => ({ row, turn: turnOf(row) }))
  return placed.toSorted((a, b) => a.turn - b.turn).map(({ row }) => row)
}

export function headKey({ lane, priority, group }: Pick<ReadyHead, 'lane' | 'priority' | 'group'>): string {
  return `${lane} ${priority} ${group}`
}

interface Level {
  /** The next one in turn; undefined: it does not fit, and was not served. */
  next(fits: Fits): ReadyHead | undefined
  /** Remembers how far everybody got. */
  save(): void
}

interface Share {
  readonly name: string
  readonly step: number
  readonly below: Level
  clock: number
}

interface LevelRules {
  readonly weightOf: (head: ReadyHead) => number
  readonly below: (name: string, heads: readonly ReadyHead[]) => Level
}

const lowest: LevelRules = {
  weightOf: () => 1,
  below: (_, [head]) => ({
    next: (fits) => (head !== undefined && fits(head.task) ? head : undefined),
    save: () => {},
  }),
}

/** Of several that are equally far behind, the first one given: they come in the order of age. */
function levelOf(
  shares: FairShares,
  parent: string,
  heads: readonly ReadyHead[],
  nameOf: (head: ReadyHead) => string,
  { weightOf, below }: LevelRules = lowest,
): Level {
  const remembered = shares.get(parent) ?? new Map<string, number>()
  const parts = [...Map.groupBy(heads, nameOf)]
  const clocks = parts.flatMap(([name]) => remembered.get(name) ?? [])
  // Nobody here is known: they begin where those who are away have come to, so that nobody waits for anybody to catch up.
  const known =
    clocks.length > 0 ? clocks : [[...remembered.values()].reduce((last, clock) => Math.max(last, clock), 0)]
  const present = known.reduce((earliest, clock) => Math.min(earliest, clock))
  const children = parts.map(([name, ofPart]): Share => ({
    name,
    step: 1 / ofPart.reduce((most, head) => Math.max(most, weightOf(head)), 1),
    below: below(name, ofPart),
    clock: remembered.get(name) ?? present,
  }))
  return {
    next(fits) {
      const served = children.reduce((first, child) => (child.clock < first.clock ? child : first))
      const head = served.below.next(fits)
      if (head !== undefined) served.clock += served.step
      return head
    },
    save() {
      const now = children.reduce((earliest, { clock }) => Math.min(earliest, clock), Number.POSITIVE_INFINITY)
      // Whoever is away and was served ahead of the others is remembered, until they have caught up.
      const away = [...remembered].filter(([, clock]) => clock > now)
      shares.set(parent, new Map([...away, ...children.map(({ name, clock }): [string, number] => [name, clock])]))
      for (const child of children) child.below.save()
      for (const [name, clock] of remembered)
        if (clock <= now && !parts.some(([part]) => part === name)) forget(shares, parent, name)
    },
  }
}

/** What is below one who is away and owes nothing: remembered by nobody, it would be kept for ever. */
function forget(shares: FairShares, parent: string, name: string): void {
  shares.delete(parent === 'queues' ? name : `${parent}\0${name}`)
}
