/**
 * The conditions of a claim, each once, under a name, as SQL. The claim and the promotion apply them to their
 * arguments, `why` applies them to the database; so `why` cannot disagree with the claim.
 *
 * In these fragments `r` is a row of q.task_run and `lane` a row of q.lane.
 */
import { sql, type RawBuilder } from 'kysely'

type Texts = RawBuilder<readonly string[]>

/** Whether the run is AVAILABLE. The ready index is on this expression. */
export const isReady: RawBuilder<boolean | null> = sql<boolean | null>`r.ready`

/** Whether its deadline, if it has one, has not passed. */
export const isInTime: RawBuilder<boolean> = sql<boolean>`(r.expires_at IS NULL OR r.expires_at > clock_timestamp())`

/** Whether it waits at the gate `time` and its time has come. */
export const isDue: RawBuilder<boolean | null> = sql<boolean | null>`r.due_at <= clock_timestamp()`

export const isPaused: RawBuilder<boolean> = sql<boolean>`
  EXISTS (SELECT FROM q.queue WHERE queue.name = lane.queue AND queue.paused_at IS NOT NULL)`

export function isKnownTask(tasks: Texts): RawBuilder<boolean> {
  return sql<boolean>`lane.task = ANY(${tasks})`
}

/** Whether the lane's queue is among these; an empty list means all queues. */
export function isWorkedOn(queues: Texts): RawBuilder<boolean> {
  return sql<boolean>`(${queues} = '{}' OR lane.queue = ANY(${queues}))`
}

export function isCapable(capabilities: Texts): RawBuilder<boolean> {
  return sql<boolean>`lane.requires <@ ${capabilities}`
}

/** How many runs of one key of the scope may be live. */
export function slotsOf(scope: RawBuilder<string | null>): RawBuilder<number> {
  return sql<number>`coalesce((SELECT c.slots FROM q.concurrency_limit c WHERE c.scope = ${scope}), 1)`
}

/**
 * The slots of a concurrency key that may be taken now, as rows of `slot`: slots that no run occupies, up to the limit.
 * After a limit was lowered, runs may occupy slots above it; they count too.
 */
export function freeSlots(
  key: RawBuilder<string | null>,
  scope: RawBuilder<string | null>,
): RawBuilder<{ slot: number }> {
  return sql<{ slot: number }>`
    SELECT slot FROM (SELECT ${slotsOf(scope)} AS slots,
      ARRAY(SELECT h.concurrency_slot FROM q.task_run h
        WHERE h.concurrency_key = ${key} AND h.concurrency_slot IS NOT NULL) AS taken) room
    CROSS JOIN LATERAL (SELECT slot FROM generate_series(1, room.slots) slot WHERE slot <> ALL(room.taken)
      ORDER BY slot LIMIT greatest(0, room.slots - cardinality(room.taken))) free`
}
