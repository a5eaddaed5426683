/** Converts a filter of runs to a condition on `r`, a row of q.task_run. Lists, counts and operations all use it. */
import type { TaskState } from '@q/schema'
import { sql, type RawBuilder } from 'kysely'
import { payloadMatches, readPayloadCondition } from './payload-condition.ts'
import type { RunFilter } from './run-filter.ts'
import { statesNamed } from './status-names.ts'

export function matches(filter: RunFilter): RawBuilder<boolean> {
  const conditions = [sql<boolean>`true`, ...byState(filter), ...byMember(filter)]
  return sql<boolean>`(${sql.join(conditions, sql` AND `)})`
}

function byState(filter: RunFilter): RawBuilder<boolean>[] {
  if (filter.status === undefined) return []
  const states = statesNamed(filter.status)
  const only = (...of: readonly TaskState[]) => states.every((state) => of.includes(state))
  return [
    sql<boolean>`r.status = ANY(${states}::q.task_status[])`,
    // Repeats the condition in the form of an index.
    ...(only('AVAILABLE') ? [sql<boolean>`r.ready`] : []),
    ...(only('CLAIMED', 'RUNNING') ? [sql<boolean>`r.held`] : []),
  ]
}

function byMember(filter: RunFilter): RawBuilder<boolean>[] {
  return [
    ...given(filter.task, (task) => sql`r.task = ${task}`),
    ...given(filter.queue, (queue) => sql`r.lane = ANY(ARRAY(SELECT id FROM q.lane WHERE queue = ${queue}))`),
    ...given(filter.group, (group) => sql`r.grp = ${group}`),
    ...given(filter.replica, (replica) => sql`r.replica_id = ${replica}`),
    ...given(filter.workflow, (workflow) => sql`r.workflow_id = ${workflow}`),
    ...given(filter.uniqueKey, (key) => sql`r.unique_key = ${key}`),
    ...given(filter.code, (code) => sql`(r.status <> 'SUCCEEDED' AND r.result ->> 'code' = ${code})`),
    ...given(filter.payload === undefined ? undefined : readPayloadCondition(filter.payload), (condition) =>
      payloadMatches(condition, filter.hiddenMembers),
    ),
    ...given(filter.fingerprint, hasFingerprint),
    ...given(
      filter.schedule,
      (schedule) => sql`EXISTS (SELECT FROM q.schedule_tick t WHERE t.run_id = r.id AND t.schedule = ${schedule})`,
    ),
    ...given(filter.createdAfter, (time) => sql`r.created_at >= ${time}`),
    ...given(filter.createdBefore, (time) => sql`r.created_at < ${time}`),
    ...given(filter.endedAfter, (time) => sql`r.finished_at >= ${time}`),
    ...given(filter.endedBefore, (time) => sql`r.finished_at < ${time}`),
  ]
}

/** Whether the last recorded attempt of a run has this fingerprint. */
function hasFingerprint(fingerprint: string): RawBuilder<boolean> {
  return sql<boolean>`
    ((SELECT a.fingerprint FROM q.task_attempt a WHERE a.run_id = r.id ORDER BY a.fence DESC LIMIT 1) = ${fingerprint})`
}

function given<T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] {
  return value === undefined ? [] : [condition(value)]
}
