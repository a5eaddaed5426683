/**
 * A run as bars over time: what it waited for, when it ran and where, when it was lost. One row per attempt. Pure; all times are
 * milliseconds.
 */
import type { RunAttempt, RunDetail } from '../../api/run-contract.ts'

export type BarKind = 'gate' | 'ready' | 'claimed' | 'running' | 'succeeded' | 'failed' | 'lost' | 'quiet'
export interface WaterfallBar {
  readonly kind: BarKind
  readonly from: number
  readonly to: number
}
export interface Row {
  readonly label: string
  readonly node: string | null
  readonly bars: readonly WaterfallBar[]
}
export interface Waterfall {
  readonly from: number
  readonly to: number
  readonly rows: readonly Row[]
  /** Writes that were refused after the lease was lost. */
  readonly marks: readonly { readonly at: number; readonly words: string }[]
}

export function waterfallOf(detail: RunDetail, now: number): Waterfall {
  const { run, attempts, events } = detail
  const from = ms(run.createdAt)
  const end = run.finishedAt === null ? now : ms(run.finishedAt)
  const rows = attempts
    .filter(({ startedAt }) => startedAt !== null)
    .map((attempt, index, all) => rowOf(detail, attempt, all[index - 1], now))
  const waiting = waitingRow(detail, now)
  return {
    from,
    to: Math.max(end, from + 1, ...rows.flatMap(({ bars }) => bars.map(({ to }) => to))),
    rows: waiting === undefined ? rows : [...rows, waiting],
    marks: events
      .filter(({ kind }) => kind.startsWith('refused'))
      .map(({ at, kind }) => ({ at: ms(at), words: kind.replace('-', ' ').replace(/beat$/, 'heartbeat') })),
  }
}

function rowOf(detail: RunDetail, attempt: RunAttempt, before: RunAttempt | undefined, now: number): Row {
  const { run, recoveries } = detail
  const started = ms(attempt.startedAt ?? run.createdAt)
  const waitedFrom = before?.endedAt == null ? ms(run.createdAt) : ms(before.endedAt)
  const due = ms(run.runAt)
  // Later attempts move `runAt`, so it says something about the last one alone.
  const readyFrom = due > waitedFrom && due <= started ? due : waitedFrom
  const recovery = recoveries.find(({ fence }) => fence === attempt.fence)
  const end = attempt.endedAt === null ? (recovery === undefined ? now : ms(recovery.at)) : ms(attempt.endedAt)
  const lostFrom = recovery === undefined ? end : Math.max(started, ms(recovery.at) - (recovery.beatAgeMs ?? 0))
  const bars: WaterfallBar[] = [
    { kind: 'gate', from: waitedFrom, to: readyFrom },
    { kind: 'ready', from: readyFrom, to: started },
    { kind: kindOf(attempt), from: started, to: Math.min(end, lostFrom) },
    { kind: 'lost', from: Math.min(end, lostFrom), to: end },
  ]
  return {
    label: `attempt ${attempt.attempt}`,
    node: attempt.replicaName ?? attempt.replicaId,
    bars: bars.filter((bar) => bar.to > bar.from),
  }
}

function kindOf({ outcome }: RunAttempt): BarKind {
  switch (outcome) {
    case 'running':
    case 'succeeded':
      return outcome
    case 'failed':
    case 'retried':
      return 'failed'
    case 'crashed':
      return 'running'
    case 'cancelled':
    case 'released':
    case 'snoozed':
      return 'quiet'
  }
}

/** The wait that is under way, or the one that ended without an attempt. */
function waitingRow({ run, attempts }: RunDetail, now: number): Row | undefined {
  const last = attempts.at(-1)
  const from = last?.endedAt == null ? ms(run.createdAt) : ms(last.endedAt)
  if (run.status === 'CLAIMED') {
    const claimed = run.claimedAt === null ? now : ms(run.claimedAt)
    return {
      label: 'claimed',
      node: run.replicaId,
      bars: drawn([
        { kind: 'ready', from, to: claimed },
        { kind: 'claimed', from: claimed, to: now },
      ]),
    }
  }
  if (run.status !== 'PENDING' && run.status !== 'AVAILABLE') {
    if (attempts.length > 0 || run.finishedAt === null) return undefined
    return { label: 'never ran', node: null, bars: unusedWait(run, from, ms(run.finishedAt)) }
  }
  const due = Math.min(now, Math.max(from, ms(run.runAt)))
  const waits: WaterfallBar =
    run.status === 'PENDING' ? { kind: 'gate', from, to: now } : { kind: 'ready', from: due, to: now }
  return {
    label: 'waiting',
    node: null,
    bars: drawn(run.status === 'PENDING' ? [waits] : [{ kind: 'gate', from, to: due }, waits]),
  }
}

/** A skipped step, and one whose parents had not ended, was never ready; another run was from the time it was due. */
function unusedWait(run: RunDetail['run'], from: number, to: number): WaterfallBar[] {
  const wasReady = run.status !== 'SKIPPED' && run.waitingOn === 0
  const due = wasReady ? Math.min(to, Math.max(from, ms(run.runAt))) : to
  return drawn([
    { kind: 'gate', from, to: due },
    { kind: 'ready', from: due, to },
  ])
}

function drawn(all: readonly WaterfallBar[]): WaterfallBar[] {
  return all.filter((bar) => bar.to > bar.from)
}

function ms(iso: string): number {
  return Date.parse(iso)
}

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const steps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 20, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * minute),
  ...[1, 2, 4, 8, 12].map((n) => n * hour),
]

/** Round distances from the start, at most so many: every 10 s, every 5 min. */
export function roundTimes(lengthMs: number, most: number): number[] {
  const step = steps.find((one) => lengthMs / one <= most + 1) ?? Math.ceil(lengthMs / most / day) * day
  const count = Math.ceil(lengthMs / step) - 1
  return Array.from({ length: Math.max(0, count) }, (_, index) => (index + 1) * step)
}
