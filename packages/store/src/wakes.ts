/**
 * Wakes: hints that work became available, a run ended or a replica should act. A lost wake costs latency, never
 * correctness: every listener also polls.
 *
 *   q_available  queue, requires  a run that needs these capabilities is ready; sent with a commit, and only if a
 *                                replica is idle (a NOTIFY in every commit would serialise them)
 *   q_ready   a queue            the same for and from programs of earlier releases, sent while a replica of one is idle
 *   q_gated   a concurrency key  a run waits for it: promote the key
 *   q_due     milliseconds       a run is due in this many milliseconds
 *   q_cancel  a replica          a cancel of one of its runs was requested: send a heartbeat; the answer names the run
 *   q_drain   a replica          its drain was ordered, changed or undone: send a heartbeat; the answer says which
 *   q_schedule                   a schedule was created, changed or resumed: read when the next tick is due
 *   q_operation                  an operation was requested: execute it
 *   q_destination                a destination was created, changed or removed: read them again
 *   q_outcome ids with statuses  runs and workflows ended; sent by settling, only if a caller waits; ids of workflows begin with w
 *   q_ended   ids                the same for and from programs of earlier releases, sent until none is admitted
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db, Origin } from './connection/db.ts'
import type { RunId } from './lease.ts'
import { openSession } from './connection/open-session.ts'
import type { WorkflowId } from './workflows/new-workflow.ts'

export type Wake =
  | { readonly channel: 'q_available'; readonly queue: string; readonly requires: readonly string[] }
  | { readonly channel: 'q_ready'; readonly queue: string }
  | { readonly channel: 'q_gated'; readonly key: string }
  | { readonly channel: 'q_due'; readonly inMs: number }
  | { readonly channel: 'q_cancel' | 'q_drain'; readonly replicaId: string }
  | { readonly channel: 'q_schedule' | 'q_operation' | 'q_destination' }
  | EndedWake

export interface EndedWake {
  readonly channel: 'q_outcome' | 'q_ended'
  readonly runs: readonly Ended<RunId>[]
  readonly workflows: readonly Ended<WorkflowId>[]
}

export interface Ended<Id> {
  readonly id: Id
  /** Undefined: a program of an earlier release sent the wake. */
  readonly status: string | undefined
}

export type Channel = Wake['channel']

export async function wakeQueue(db: Db, queue: string): Promise<void> {
  const lanes = sql`(SELECT ${queue}::text AS queue, NULL::text[] AS requires)`
  await sql`SELECT count(pg_notify(channel, payload))::int AS sent FROM ${availableWakes(lanes)}`.execute(db)
}

/** One row for each notification that `lanes`, a table with `queue` and `requires`, need: `channel` and `payload`. */
export function availableWakes(lanes: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(SELECT DISTINCT wake.channel, wake.payload FROM ${lanes} AS own
    CROSS JOIN LATERAL ${ofLane}) wakes`
}

/** The same for one row of q.lane, if a replica is idle. */
export function availableWakesOf(lane: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`q.lane AS own CROSS JOIN LATERAL ${ofLane} AND own.id = ${lane} AND EXISTS (SELECT FROM q.idle)`
}

/** The notifications of a lane `own`, as `wake`. */
const ofLane = sql`(VALUES ('q_available', q.wake_text(own.queue, own.requires)), ('q_ready', own.queue)) wake(channel, payload)
    WHERE (wake.channel <> 'q_ready' OR q.older_replica_waits())`

/** One row for each notification that `ends`, a table with the texts `id` and `status`, need: `channel` and `payload`. */
export function endedWakes(ends: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(SELECT wake.channel, wake.payload FROM (
      SELECT string_agg(id || ':' || status, ',') AS outcomes, string_agg(id, ',') AS ids
      FROM (SELECT id, status, row_number() OVER () / 250 AS part FROM ${ends}) numbered GROUP BY part) parts
    CROSS JOIN LATERAL (VALUES ('q_outcome', parts.outcomes), ('q_ended', parts.ids)) wake(channel, payload)
    WHERE wake.channel <> 'q_ended' OR (SELECT oldest_program < ${sql.lit(firstWithOutcome)} FROM q.compatibility)) wakes`
}

/** Programs of this number listen on q_outcome. */
const firstWithOutcome = 16

/** Runs that are due later than this are found in time without a wake. */
export const dueWakeMsMax = 60_000

/** Wakes replicas for a run that is due in `inMs` milliseconds; with the commit, if it is part of a transaction. */
export async function wakeDue(db: Db, inMs: number): Promise<void> {
  if (inMs > dueWakeMsMax) return
  await sql`SELECT count(pg_notify('q_due', ${String(Math.ceil(inMs))}))::int AS sent`.execute(db)
}

/** Wakes replicas to read the schedules again; sent with the commit, if it is part of a transaction. */
export async function wakeSchedules(db: Db): Promise<void> {
  await sql`SELECT count(pg_notify('q_schedule', ''))::int AS sent`.execute(db)
}

export interface Listener {
  close(): void
}

export interface ListenHandlers {
  readonly onWake: (wake: Wake) => void
  /** Called once; the caller decides whether to listen again. */
  readonly onLost: (error: Error | undefined) => void
}

/** Listens on its own session until it is closed or lost. */
export async function listen(
  origin: Origin,
  channels: Channel | readonly Channel[],
  handlers: ListenHandlers,
): Promise<Listener> {
  const session = await openSession(origin, 'listen', {
    onNotification: passWakes(handlers),
    onLost: handlers.onLost,
  })
  await session.prepare(async (query) => {
    for (const channel of [channels].flat()) await query(`LISTEN ${channel}`)
  })
  return session
}

/** Anyone who is connected to the database can notify: a notification that is not a wake is ignored. */
export function passWakes({ onWake }: Pick<ListenHandlers, 'onWake'>): (channel: string, payload: string) => void {
  return (channel, payload) => {
    const wake = wakeOf(channel, payload)
    if (wake !== undefined) onWake(wake)
  }
}

function wakeOf(channel: string, payload: string): Wake | undefined {
  switch (channel as Channel) {
    case 'q_available':
      return availableIn(payload)
    case 'q_ready':
      return { channel: 'q_ready', queue: payload }
    case 'q_gated':
      return { channel: 'q_gated', key: payload }
    case 'q_due':
      return { channel: 'q_due', inMs: Number(payload) || 0 }
    case 'q_cancel':
      return { channel: 'q_cancel', replicaId: payload }
    case 'q_drain':
      return { channel: 'q_drain', replicaId: payload }
    case 'q_schedule':
      return { channel: 'q_schedule' }
    case 'q_operation':
      return { channel: 'q_operation' }
    case 'q_destination':
      return { channel: 'q_destination' }
    case 'q_outcome':
      return endedIn('q_outcome', payload)
    case 'q_ended':
      return endedIn('q_ended', payload)
  }
}

/** Without `requires` every replica of the queue looks. */
function availableIn(payload: string): Wake | undefined {
  const { queue, requires } = Object(parsed(payload)) as { readonly queue?: unknown; readonly requires?: unknown }
  if (typeof queue !== 'string') return undefined
  return { channel: 'q_available', queue, requires: Array.isArray(requires) ? requires.map(String) : [] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function endedIn(channel: EndedWake['channel'], payload: string): EndedWake {
  const runs: Ended<RunId>[] = []
  const workflows: Ended<WorkflowId>[] = []
  for (const end of payload.split(',')) {
    const [id = '', status] = end.split(':')
    if (id.startsWith('w')) workflows.push({ id: id.slice(1) as WorkflowId, status })
    else runs.push({ id: id as RunId, status })
  }
  return { channel, runs, workflows }
}
