/**
 * Creates or updates a schedule. An identical declaration changes nothing, so any number of replicas may repeat it.
 *
 * A new pattern applies from now on. A tick of the old pattern that is due and not yet enqueued stays due, and handled
 * ticks stay handled: two releases that alternate between patterns neither double nor lose a tick; they only change the
 * pattern that applies.
 *
 * The replica that starts last has the newest code. It declares the schedules of its tasks, and removes those of tasks
 * that it knows and that no longer declare one. It does not touch tasks that it does not know.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, checkName, problemsText } from '@q/schema/json'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { runProblems } from '../runs/check-new-runs.ts'
import { wakeSchedules } from '../wakes.ts'
import { ownPrefix, ownScheduleName, type ScheduleInput } from './schedule.ts'

export type PutAnswer = 'made' | 'changed' | 'unchanged'

/** For users; code declares schedules with `publishSchedules`. */
export async function putSchedule(db: Db, input: ScheduleInput): Promise<PutAnswer> {
  if (input.name.startsWith(ownPrefix))
    throw refused(`names that begin with ${ownPrefix} belong to the tasks themselves`)
  const payload = checked(input)
  return inTransaction(db, async (trx) => {
    const answer = await put(trx, input, payload, null)
    if (answer !== 'unchanged') await wakeSchedules(trx)
    return answer
  })
}

export interface OwnSchedule {
  readonly task: string
  /** Null: the task declares none. */
  readonly schedule: Omit<ScheduleInput, 'name' | 'task'> | null
}

/** Applies the declarations of a replica's code, for every task that it knows. */
export async function publishSchedules(db: Db, replicaId: string, own: readonly OwnSchedule[]): Promise<void> {
  if (own.length === 0) return
  const sorted = own.toSorted((a, b) => (a.task < b.task ? -1 : 1))
  const inputs = sorted.flatMap(({ task, schedule }) => {
    const input = schedule === null ? undefined : { ...schedule, task, name: ownScheduleName(task) }
    return input === undefined ? [] : [{ input, payload: checked(input) }]
  })
  const without = sorted.filter(({ schedule }) => schedule === null).map(({ task }) => ownScheduleName(task))
  await inTransaction(db, async (trx) => {
    // In one order, whatever is declared or removed: replicas of two releases that start together cannot deadlock.
    const names = sorted.map(({ task }) => ownScheduleName(task))
    await trx.selectFrom('q.schedule').select('name').where('name', 'in', names).orderBy('name').forUpdate().execute()
    let changed = false
    for (const { input, payload } of inputs) {
      const answer = await put(trx, input, payload, replicaId)
      changed ||= answer !== 'unchanged'
    }
    if (without.length > 0) {
      await trx.deleteFrom('q.schedule').where('name', 'in', without).where('published_by', 'is not', null).execute()
    }
    if (changed) await wakeSchedules(trx)
  })
}

// Written in SQL: an upsert that compares the stored schedule with the new one.
async function put(db: Db, input: ScheduleInput, payload: string, by: string | null): Promise<PutAnswer> {
  const { rows } = await sql<{ version: number }>`
INSERT INTO q.schedule AS s (name, task, cron, timezone, missed, payload, options, published_by, seen_until)
VALUES (${input.name}, ${input.task}, ${input.cron}, ${input.timezone}, ${input.missed}, ${payload}::jsonb,
  ${JSON.stringify(input.options ?? {})}::jsonb, ${by}, clock_timestamp())
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

/** Returns the payload as JSON text. */
function checked({ name, task, payload, options }: ScheduleInput): string {
  const problem = checkName('schedule', name) ?? checkName('task', task)
  if (problem !== undefined) throw refused(`its name, or that of its task, ${problem}`)
  const problems = runProblems({ task, lane: 1, payload, ...options })
  if (problems.length > 0) throw refused(`its runs would be rejected: ${problems.join('; ')}`)
  const json = checkJson(payload)
  if (!json.ok) throw refused(`its payload cannot be stored: ${problemsText(json.problems)}`)
  return json.text
}

function refused(why: string): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_INVALID',
    what: 'The schedule cannot be stored; nothing was changed.',
    why: `The schedule is invalid: ${why}.`,
    fix: 'Give it a short printable name, a cron pattern and a payload of plain JSON.',
  })
}
