/**
 * What happened to a run, in order: when, what, and by whom. Derived from the run and its history; pure.
 *
 * Only what is recorded: that it was claimed shows while it is CLAIMED and becomes a start; a claim given back before
 * its start, a promotion, and an end without an attempt that was retried by hand leave no trace. The time of a retry by
 * hand is known until the run is rescheduled.
 * Of the events those are left out that say what is told already.
 */
import type { TaskState } from '@q/schema'
import type { RunAttempt } from './attempts.ts'
import type { RunDetail } from './run.ts'

export type Happening = {
  /** Null: not recorded. */
  readonly at: Date | null
  /** A replica, or whoever recovered it; null: not recorded. */
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
  /** It ended without an attempt that did: cancelled while it waited, expired, skipped. */
  | { readonly what: 'ended'; readonly status: TaskState; readonly code: string | null }
  | { readonly what: 'retried-by-hand'; readonly epoch: number }
  /** Beside its ordinary way: `refused-checkpoint`, for one. */
  | { readonly what: 'noted'; readonly kind: string; readonly fence: number; readonly detail: string | null }
)

type Story = Omit<RunDetail, 'timeline'>

interface Placed {
  /** The claim it belongs to. */
  readonly fence: number
  readonly happening: Happening
}

/** In the order of the claims, each with its start before its end: fences only rise, while clocks may jump. */
export function timelineOf(story: Story): Happening[] {
  const placed = [
    ...epochs(story),
    ...claimed(story),
    ...story.attempts.flatMap(start),
    ...beats(story),
    ...cancelRequest(story),
    ...story.attempts.flatMap(end),
    ...recoveries(story),
    ...endWithoutAttempt(story),
  ]
  placed.push(...notes(story, placed))
  const enqueued: Happening = { at: story.run.createdAt, by: null, what: 'enqueued' }
  return [enqueued, ...placed.toSorted((a, b) => a.fence - b.fence).map(({ happening }) => happening)]
}

/** An epoch begins before the first claim of it, and after every claim of the one before: half a fence below. */
function epochs({ run, attempts }: Story): Placed[] {
  const found: Placed[] = []
  let fence = run.fence
  for (let epoch = run.epoch; epoch > 1; epoch--) {
    const own = attempts.filter((attempt) => attempt.epoch === epoch)
    const moved = own.some(({ outcome }) => outcome === 'retried' || outcome === 'snoozed')
    const at = epoch === run.epoch && !moved ? run.runAt : null
    fence = Math.min(fence, ...own.map((attempt) => attempt.fence)) - 0.5
    found.push({ fence, happening: { at, by: null, what: 'retried-by-hand', epoch } })
  }
  return found
}

function claimed({ run: { status, claimedAt, replicaId, fence } }: Story): Placed[] {
  if (status !== 'CLAIMED') return []
  return [{ fence, happening: { at: claimedAt, by: replicaId, what: 'claimed', fence } }]
}

function start({ replicaName, replicaId, startedAt, epoch, attempt, fence }: RunAttempt): Placed[] {
  const by = replicaName ?? replicaId
  return [{ fence, happening: { at: startedAt, by, what: 'started', epoch, attempt, fence } }]
}

function end({ replicaName, replicaId, endedAt, outcome, ...rest }: RunAttempt): Placed[] {
  if (outcome === 'running') return []
  const { epoch, attempt, fence, code, detail } = rest
  const by = replicaName ?? replicaId
  return [{ fence, happening: { at: endedAt, by, what: outcome, epoch, attempt, fence, code, detail } }]
}

function beats({ run, beats: signs }: Story): Placed[] {
  return signs.map(({ sentAt, senderId, progress, note }) => ({
    fence: run.fence,
    happening: { at: sentAt, by: senderId, what: 'beat', progress, note },
  }))
}

function cancelRequest({ run: { fence, cancelRequestedAt } }: Story): Placed[] {
  if (cancelRequestedAt === null) return []
  return [{ fence, happening: { at: cancelRequestedAt, by: null, what: 'cancel-requested' } }]
}

function recoveries(story: Story): Placed[] {
  return story.recoveries.map(({ fence, at, recoveredBy, cause, replicaId, became }) => ({
    fence,
    happening: { at, by: recoveredBy, what: 'recovered', cause, from: replicaId, became },
  }))
}

function notes({ events }: Story, told: readonly Placed[]): Placed[] {
  const known = new Set(told.map(({ fence, happening }) => `${fence} ${happening.what}`))
  return events
    .filter(({ fence, kind }) => !known.has(`${fence} ${kind}`) && kind !== 'retried-by-hand')
    .map(({ fence, kind, at, replicaId, detail }) => ({
      fence,
      happening: { at, by: replicaId, what: 'noted', kind, fence, detail },
    }))
}

function endWithoutAttempt({ run, attempts }: Story): Placed[] {
  const { finishedAt, fence, status } = run
  if (finishedAt === null || attempts.some((attempt) => attempt.fence === fence)) return []
  return [{ fence, happening: { at: finishedAt, by: null, what: 'ended', status, code: codeOf(run.result) } }]
}

function codeOf(result: unknown): string | null {
  const code: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'code') : undefined
  return typeof code === 'string' ? code : null
}
