/**
 * Wakes: hints that something became available, ended or is asked for. Losing one costs latency, never correctness:
 * everyone who listens also polls.
 *
 *   q_ready   a queue            it has work; sent with a commit, and only if a replica is idle (a NOTIFY in every
 *                                commit would serialise them)
 *   q_gated   a concurrency key  a run waits for it: promote the key
 *   q_due     milliseconds       a run is due in so many milliseconds
 *   q_cancel  a replica          one of its runs is to be stopped: beat, and the answer says which
 *   q_drain   a replica          its drain was ordered, changed or undone: beat, and the response says which
 *   q_schedule                   a schedule was made, changed or resumed: look when the next tick is
 *   q_ended   run ids            sent by settling, only if somebody waits; ids of workflows with a w before them
 */
import { sql } from 'kysely'
import type { Db, Origin } from './db.ts'
import type { RunId } from './lease.ts'
import { openSession } from './open-session.ts'
import type { WorkflowId } from './workflows/new-workflow.ts'

export type Wake =
  | { readonly channel: 'q_ready'; readonly queue: string }
  | { readonly channel: 'q_gated'; readonly key: string }
  | { readonly channel: 'q_due'; readonly inMs: number }
  | { readonly channel: 'q_cancel' | 'q_drain'; readonly replicaId: string }
  | { readonly channel: 'q_schedule' }
  | { readonly channel: 'q_ended'; readonly runIds: RunId[]; readonly workflowIds: WorkflowId[] }

export type Channel = Wake['channel']

export async function wakeQueue(db: Db, queue: string): Promise<void> {
  await sql`SELECT pg_notify('q_ready', ${queue})`.execute(db)
}

/** Runs that are due later than this are found in time without a wake. */
export const dueWakeMsMax = 60_000

/** Wakes replicas for a run that is due in so many milliseconds; with the commit, if it is part of a transaction. */
export async function wakeDue(db: Db, inMs: number): Promise<void> {
  if (inMs > dueWakeMsMax) return
  await sql`SELECT pg_notify('q_due', ${String(Math.ceil(inMs))})`.execute(db)
}

/** With the commit, if it is part of a transaction. */
export async function wakeSchedules(db: Db): Promise<void> {
  await sql`SELECT pg_notify('q_schedule', '')`.execute(db)
}

export interface Listener {
  close(): void
}

export interface ListenHandlers {
  readonly onWake: (wake: Wake) => void
  /** Called once; it is for the caller to come back. */
  readonly onLost: (error: Error | undefined) => void
}

/** Listens on a session of its own until closed or lost. */
export async function listen(origin: Origin, channel: Channel, handlers: ListenHandlers): Promise<Listener> {
  const session = await openSession(origin, 'listen', {
    onNotification: (from, payload) => handlers.onWake(wakeOf(from, payload)),
    onLost: handlers.onLost,
  })
  await session.prepare((ask) => ask(`LISTEN ${channel}`))
  return session
}

export function wakeOf(channel: string, payload: string): Wake {
  switch (channel as Channel) {
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
    case 'q_ended':
      return { channel: 'q_ended', ...endedIn(payload.split(',')) }
  }
}

function endedIn(ids: readonly string[]): { runIds: RunId[]; workflowIds: WorkflowId[] } {
  return {
    runIds: ids.filter((id) => !id.startsWith('w')) as RunId[],
    workflowIds: ids.filter((id) => id.startsWith('w')).map((id) => id.slice(1)) as WorkflowId[],
  }
}
