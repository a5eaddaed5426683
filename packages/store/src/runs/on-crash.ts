/**
 * What happens to a RUNNING run whose holder died, resolved in one order by every statement that decides: the run's own
 * value, else the task's value as published, else the default that the holder registered, else fail. The claim returns
 * the same value, so the holder fences itself for exactly the runs that a reaper would start again.
 *
 * In this fragment `r` is a row of q.task_run. PostgreSQL reads q.task and q.replica only for runs without a value. A
 * published value that this release does not know counts as none.
 */
import { sql, type RawBuilder } from 'kysely'

export type OnCrash = 'fail' | 'retry'

/** The SQL of that order. `holder`: the id of the replica that holds the run; if it is a constant, PostgreSQL looks it up once. */
export function resolvedOnCrash(holder: RawBuilder<string | null> = sql.ref('r.replica_id')): RawBuilder<OnCrash> {
  return sql<OnCrash>`coalesce(r.on_crash,
  (SELECT CASE task.options ->> 'onCrash' WHEN 'fail' THEN 'fail' WHEN 'retry' THEN 'retry' END::q.on_crash
    FROM q.task WHERE task.name = r.task),
  (SELECT replica.on_crash FROM q.replica WHERE replica.id = ${holder}), 'fail')`
}
