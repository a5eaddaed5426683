/**
 * The timeline of a run: what happened, when, and which replica or person did it. Derived from the run and its history;
 * pure.
 *
 * It shows only what is recorded: a claim shows while the run is CLAIMED and then becomes a start; a promotion, a claim
 * that was released before its start, and a manually retried end without an attempt leave no trace. The time of a manual
 * retry is known until the run is rescheduled. Events that repeat another entry are left out.
 */
import type { TaskState } from '@q/schema'
import type { NameOf } from '../nodes/replica-names.ts'
import type { RunAttempt } from './attempts.ts'
import type { RunDetail } from './run.ts'

export type TimelineEntry = {
  /** Null: not recorded. */
  readonly at: Date | null
  /** Name of the replica or person that did it; null: not recorded. */
  readonly by: string | null
} & (
  | { readonly what: 'enqueued' }
  | { readonly what: 'claimed'; readonly fence: number }
  | { readonly what: 'started'; readonly epoch: number; readonly attempt: number; readonly fence: number }
  | {
      readonly what: Exclude<RunAttempt['outcome'], 'running'>
      readonly epoch: number
      readonly attempt: number
      readonly fence: number
      readonly code: string | null
      readonly detail: string | null
    }
  | { readonly what: 'recovered'; readonly cause: string; readonly from: string; readonly became: TaskState }
  | { readonly what: 'cancel-requested' }
  | { readonly what: 'beat'; readonly progress: number | null; readonly note: string | null }
  /** The run ended without a running attempt: cancelled while it waited, expired, or skipped. */
  | { readonly what: 'ended'; readonly status: TaskState; readonly code: string | null }
  | { readonly what: 'retried-manually'; readonly epoch: number }
  /** Another event, for example `refused-checkpoint`. */
  | { readonly what: 'noted'; readonly kind: string; readonly fence: number; readonly detail: string | null }
)

type RunHistory = Pick<RunDetail, 'run' | 'attempts' | 'recoveries' | 'beats' | 'events'>

interface FencedEntry {
  /** The fence of the claim that it belongs to. */
  readonly fence: number
  readonly entry: TimelineEntry
}

/**
 * Sorts by claim, with each start before its end: fences only rise, while clocks may jump. Other entries, such as a
 * write that was refused after the next claim had begun, are placed by their time.
 */
export function timelineOf(history: RunHistory, nameOf: NameOf): TimelineEntry[] {
  const enqueued: TimelineEntry = { at: history.run.createdAt, by: null, what: 'enqueued' }
  const claims = [
    ...epochs(history),
    ...claimed(history, nameOf),
    ...history.attempts.flatMap(start),
    ...history.attempts.flatMap(end),
    ...recoveries(history, nameOf),
    ...endWithoutAttempt(history),
  ].toSorted((a, b) => a.fence - b.fence)
  const beside = [...beats(history, nameOf), ...cancelRequest(history)]
  const noted = notes(history, [...claims, ...beside], nameOf)
  return inTime([{ fence: Number.NEGATIVE_INFINITY, entry: enqueued }, ...claims], [...beside, ...noted])
}

/**
 * Places each entry of `beside` after the last claim entry that is not later, and never before the start of its own
 * claim.
 */
function inTime(claims: readonly FencedEntry[], beside: readonly FencedEntry[]): TimelineEntry[] {
  const after = Map.groupBy(
    beside.toSorted((a, b) => timeOf(a) - timeOf(b)),
    (one) => {
      const begun = Math.max(
        0,
        claims.findIndex(({ fence }) => fence === one.fence),
      )
      return Math.max(
        begun,
        claims.findLastIndex((claim) => claim.entry.at !== null && isBefore(claim, one)),
      )
    },
  )
  return claims.flatMap(({ entry }, index) => [entry, ...(after.get(index) ?? []).map((one) => one.entry)])
}

/**
 * If both have the same time: a cancel request precedes the end that it causes, and a refused write follows the end of
 * its claim.
 */
function isBefore(claim: FencedEntry, one: FencedEntry): boolean {
  return one.entry.what === 'noted' ? timeOf(claim) <= timeOf(one) : timeOf(claim) < timeOf(one)
}

function timeOf({ entry }: FencedEntry): number {
  return entry.at?.getTime() ?? 0
}

/**
 * Places the start of an epoch after every claim of the previous epoch and before its own first claim: half a fence
 * lower.
 */
function epochs({ run, attempts }: RunHistory): FencedEntry[] {
  const found: FencedEntry[] = []
  let fence = run.fence
  for (let epoch = run.epoch; epoch > 1; epoch--) {
    const own = attempts.filter((attempt) => attempt.epoch === epoch)
    const moved = own.some(({ outcome }) => outcome === 'retried' || outcome === 'snoozed')
    const at = epoch === run.epoch && !moved ? run.runAt : null
    fence = Math.min(fence, ...own.map((attempt) => attempt.fence)) - 0.5
    found.push({ fence, entry: { at, by: null, what: 'retried-manually', epoch } })
  }
  return found
}

function claimed({ run: { status, claimedAt, replicaId, fence } }: RunHistory, nameOf: NameOf): FencedEntry[] {
  if (status !== 'CLAIMED') return []
  return [{ fence, entry: { at: claimedAt, by: nullable(replicaId, nameOf), what: 'claimed', fence } }]
}

function start({ replicaName, replicaId, startedAt, epoch, attempt, fence }: RunAttempt): FencedEntry[] {
  const by = replicaName ?? replicaId
  return [{ fence, entry: { at: startedAt, by, what: 'started', epoch, attempt, fence } }]
}

function end({ replicaName, replicaId, endedAt, outcome, ...rest }: RunAttempt): FencedEntry[] {
  if (outcome === 'running') return []
  const { epoch, attempt, fence, code, detail } = rest
  const by = replicaName ?? replicaId
  return [{ fence, entry: { at: endedAt, by, what: outcome, epoch, attempt, fence, code, detail } }]
}

function beats({ run, beats: heartbeats }: RunHistory, nameOf: NameOf): FencedEntry[] {
  return heartbeats.map(({ sentAt, senderId, progress, note }) => ({
    fence: run.fence,
    entry: { at: sentAt, by: senderName(senderId, nameOf), what: 'beat', progress, note },
  }))
}

function nullable(id: string | null, nameOf: NameOf): string | null {
  return id === null ? null : nameOf(id)
}

/** A holder's id may end with the number of its thread: `<id>/3`. */
function senderName(senderId: string, nameOf: NameOf): string {
  const [replicaId = '', ...place] = senderId.split('/')
  return [nameOf(replicaId), ...place].join('/')
}

function cancelRequest({ run: { fence, cancelRequestedAt } }: RunHistory): FencedEntry[] {
  if (cancelRequestedAt === null) return []
  return [{ fence, entry: { at: cancelRequestedAt, by: null, what: 'cancel-requested' } }]
}

function recoveries(history: RunHistory, nameOf: NameOf): FencedEntry[] {
  return history.recoveries.map(({ fence, at, recoveredByName, cause, replicaId, became }) => ({
    fence,
    entry: { at, by: recoveredByName, what: 'recovered', cause, from: nameOf(replicaId), became },
  }))
}

function notes({ events }: RunHistory, shown: readonly FencedEntry[], nameOf: NameOf): FencedEntry[] {
  const known = new Set(shown.map(({ fence, entry }) => `${fence} ${entry.what}`))
  return events
    .filter(({ fence, kind }) => !known.has(`${fence} ${kind}`) && kind !== 'retried-manually')
    .map(({ fence, kind, at, replicaId, detail }) => ({
      fence,
      entry: { at, by: nullable(replicaId, nameOf), what: 'noted', kind, fence, detail },
    }))
}

function endWithoutAttempt({ run, attempts, recoveries: recovered }: RunHistory): FencedEntry[] {
  const { finishedAt, fence, status, epoch } = run
  // A recovery raises the fence: the run ended with the attempt that crashed.
  const endedBy = (attempt: RunAttempt) =>
    attempt.fence === fence ||
    (attempt.epoch === epoch && recovered.some((one) => one.fence === attempt.fence && one.became === status))
  if (finishedAt === null || attempts.some(endedBy)) return []
  return [{ fence, entry: { at: finishedAt, by: null, what: 'ended', status, code: codeOf(run.result) } }]
}

function codeOf(result: unknown): string | null {
  const code: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'code') : undefined
  return typeof code === 'string' ? code : null
}
