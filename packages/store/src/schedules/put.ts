/**
 * Makes a schedule, or makes it what is asked for. What says the same as before changes nothing, so any number of
 * replicas may declare one again and again.
 *
 * A new pattern counts from now on. A tick of the old one that is due at this moment and not yet enqueued stays owed,
 * and what was dealt with stays dealt with: two releases that declare different patterns in turns neither double nor
 * lose a tick, they only change which pattern counts.
 *
 * The replica that starts last has the newest code. It declares the schedules of its tasks, and takes away those of tasks
 * that it knows and that declare none any more. Tasks that it does not know are none of its business.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, checkName, problemsText } from '@q/schema/json'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import { runProblems } from '../runs/check-new-runs.ts'
import { wakeSchedules } from '../wakes.ts'
import { ownPrefix, ownScheduleName, type ScheduleWish } from './schedule.ts'

export type PutAnswer = 'made' | 'changed' | 'unchanged'

/** By hand. */
export async function putSchedule(db: Db, wish: ScheduleWish): Promise<PutAnswer> {
  if (wish.name.startsWith(ownPrefix))
    throw refused(`names that begin with ${ownPrefix} belong to the tasks themselves`)
  const payload = checked(wish)
  return inTransaction(db, async (trx) => {
    const answer = await put(trx, wish, payload, null)
    if (answer !== 'unchanged') await wakeSchedules(trx)
    return answer
  })
}

export interface OwnSchedule {
  readonly task: string
  /** Null: it declares none. */
  readonly schedule: Omit<ScheduleWish, 'name' | 'task'> | null
}

/** What the code of a replica declares, of every task that it knows. */
export async function publishSchedules(db: Db, replicaId: string, own: readonly OwnSchedule[]): Promise<void> {
  if (own.length === 0) return
  const sorted = own.toSorted((a, b) => (a.task < b.task ? -1 : 1))
  const wishes = sorted.flatMap(({ task, schedule }) => {
    const wish = schedule === null ? undefined : { ...schedule, task, name: ownScheduleName(task) }
    return wish === undefined ? [] : [{ wish, payload: checked(wish) }]
  })
  const without = sorted.filter(({ schedule }) => schedule === null).map(({ task }) => ownScheduleName(task))
  await inTransaction(db, async (trx) => {
    // In one order, whatever each declares or takes away: replicas of two releases that start together cannot deadlock.
    const names = sorted.map(({ task }) => ownScheduleName(task))
    await trx.selectFrom('q.schedule').select('name').where('name', 'in', names).orderBy('name').forUpdate().execute()
    let changed = false
    for (const { wish, payload } of wishes) {
      const answer = await put(trx, wish, payload, replicaId)
      changed ||= answer !== 'unchanged'
    }
    if (without.length > 0) {
      await trx.deleteFrom('q.schedule').where('name', 'in', without).where('published_by', 'is not', null).execute()
    }
    if (changed) await wakeSchedules(trx)
  })
}

// A whole statement by hand: an upsert that compares what there is with what is asked for, at one moment.
async function put(db: Db, wish: ScheduleWish, payload: string, by: string | null): Promise<PutAnswer> {
  const { rows } = await sql<{ version: number }>`
INSERT INTO q.schedule AS s (name, task, cron, timezone, missed, payload, options, published_by, seen_until)
VALUES (${wish.name}, ${wish.task}, ${wish.cron}, ${wish.timezone}, ${wish.missed}, ${payload}::jsonb,
  ${JSON.stringify(wish.options ?? {})}::jsonb, ${by}, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET
  task = excluded.task, cron = excluded.cron, timezone = excluded.timezone, missed = excluded.missed,
  payload = excluded.payload, options = excluded.options, published_by = excluded.published_by,
  version = s.version + 1, updated_at = clock_timestamp(),
  seen_until = CASE WHEN (s.cron, s.timezone) = (excluded.cron, excluded.timezone) THEN s.seen_until
    ELSE greatest(s.seen_until, excluded.seen_until) END,
  next_tick = CASE WHEN (s.cron, s.timezone) = (excluded.cron, excluded.timezone) THEN s.next_tick
    WHEN s.next_tick <= excluded.seen_until AND s.paused_at IS NULL THEN s.next_tick END
WHERE (s.task, s.cron, s.timezone, s.missed, s.payload, s.options)
  IS DISTINCT FROM (excluded.task, excluded.cron, excluded.timezone, excluded.missed, excluded.payload, excluded.options)
RETURNING version`.execute(db)
  const [row] = rows
  return row === undefined ? 'unchanged' : row.version === 1 ? 'made' : 'changed'
}

/** Its payload as JSON text. */
function checked({ name, task, payload, options }: ScheduleWish): string {
  const problem = checkName('schedule', name) ?? checkName('task', task)
  if (problem !== undefined) throw refused(`its name, or that of its task, ${problem}`)
  const problems = runProblems({ task, lane: 1, payload, ...options })
  if (problems.length > 0) throw refused(`its runs would be refused: ${problems.join('; ')}`)
  const json = checkJson(payload)
  if (!json.ok) throw refused(`its payload cannot be stored: ${problemsText(json.problems)}`)
  return json.text
}

function refused(why: string): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_INVALID',
    what: 'A schedule cannot be kept; nothing was changed.',
    why: `It is wrong: ${why}.`,
    fix: 'Give it a short printable name, a cron pattern and a payload of plain JSON.',
  })
}
