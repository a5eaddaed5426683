/** Queries that observe the order in which steps began. */
import { sql, type Kysely } from 'kysely'
import type { Connection } from '@q/store'

type Db = Connection['db'] extends Kysely<infer DB> ? Kysely<DB> : never

/** Returns steps that began before enough of their parents had ended. */
export async function beganTooEarly(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string; parents: number; needs: number }>`
SELECT s.name, s.needs, count(*) FILTER (WHERE p.finished_at <= c.started_at)::int AS parents
FROM q.workflow_step s JOIN q.task_run c ON c.id = s.run_id AND c.started_at IS NOT NULL
JOIN q.workflow_edge e ON e.child_id = c.id JOIN q.task_run p ON p.id = e.parent_id
WHERE s.kind = 'task' GROUP BY s.run_id, s.name, s.needs
HAVING count(*) FILTER (WHERE p.finished_at <= c.started_at) < s.needs`.execute(db)
  return rows.map(({ name, parents, needs }) => `step "${name}" began after ${parents} of ${needs} parents`)
}

/** Returns steps with more starts than recorded crashes and releases allow. */
export async function startedTooOften(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string; attempt: number; crashes: number }>`
SELECT s.name, r.attempt, r.crash_count AS crashes FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id
WHERE s.kind IN ('task', 'item') AND r.attempt > 1 + r.crash_count`.execute(db)
  return rows.map(
    ({ name, attempt, crashes }) => `step "${name}" was started ${attempt} times, with ${crashes} crashes`,
  )
}
