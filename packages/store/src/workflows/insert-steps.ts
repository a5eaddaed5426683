/**
 * Inserts steps: many runs with their roles in the workflow in one statement, then the edges. Ids rise in the order
 * given, so the id of a parent is lower than those of its children.
 *
 * A step without parents passes the gate `parents` as it is inserted; the others wait there. A step whose task is not
 * published keeps its own options and waits at the gate `task` after its parents.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { noLane } from '../lanes.ts'
import { storedKey } from '../runs/new-run.ts'
import type { WorkflowId } from './new-workflow.ts'
import type { StepRow } from './step-rows.ts'
import type { PendingWakes } from './pending-wakes.ts'

/** Limits of one statement. */
const atOnce = { rowsMax: 1_000, charsMax: 16_777_216, edgesMax: 20_000 }

export interface NewStep {
  readonly row: StepRow
  /** False: it waits at the gate `parents`, for `waitingOn` parents. */
  readonly opens: boolean
  readonly waitingOn: number
}

export async function insertSteps(
  trx: Db,
  workflowId: WorkflowId,
  steps: readonly NewStep[],
  wakes: PendingWakes,
): Promise<RunId[]> {
  const ids: RunId[] = []
  for (const part of insertBatchesOf(steps.map(rowText))) ids.push(...(await insertBatch(trx, workflowId, part)))
  for (const { row, opens } of steps) {
    if (!opens) continue
    const { concurrency, delayMs } = row.settings
    if (isUnpublished(row)) continue
    if (delayMs !== undefined && delayMs > 0) wakes.dueInMs = Math.min(wakes.dueInMs, delayMs)
    else if (concurrency === undefined) wakes.lanes.add(row.lane)
    else wakes.keys.add(storedKey(concurrency))
  }
  return ids
}

interface Edge {
  readonly parent: RunId
  readonly child: RunId
}

export async function insertEdges(trx: Db, edges: readonly Edge[]): Promise<void> {
  for (let first = 0; first < edges.length; first += atOnce.edgesMax) {
    const part = edges.slice(first, first + atOnce.edgesMax)
    await sql`INSERT INTO q.workflow_edge (parent_id, child_id)
      SELECT * FROM unnest(${part.map(({ parent }) => parent)}::bigint[], ${part.map(({ child }) => child)}::bigint[])`.execute(
      trx,
    )
  }
}

function insertBatchesOf(texts: readonly string[]): string[][] {
  const parts: string[][] = []
  let room = 0
  for (const text of texts) {
    const part = parts.at(-1)
    if (part !== undefined && part.length < atOnce.rowsMax && text.length <= room) part.push(text)
    else {
      parts.push([text])
      room = atOnce.charsMax
    }
    room -= text.length
  }
  return parts
}

async function insertBatch(trx: Db, workflowId: WorkflowId, part: readonly string[]): Promise<RunId[]> {
  const texts = `[${part.map((text, ordinal) => `{"ordinal":${ordinal},${text.slice(1)}`).join(',')}]`
  // Written in SQL: an array in, two tables written, and the ids of the elements out.
  const { rows } = await sql<{ ids: string }>`
WITH given AS MATERIALIZED (
  SELECT nextval('q.task_run_id_seq') AS id, g.* FROM jsonb_to_recordset(${texts}::text::jsonb) AS g(
    ordinal int, task text, lane int, priority smallint, grp text, max_attempts smallint, on_crash q.on_crash,
    delay_ms float8, expires_ms float8, timeout_ms int, max_silent_ms int, opens boolean, waiting_on int,
    concurrency_scope text, concurrency_key text, asked jsonb, payload jsonb, name text, kind text, inputs jsonb, needs int,
    tolerates int, allows_failed boolean, conditional boolean, parallel_max int, item_of bigint, item_index int, plan jsonb)
), runs AS (
  INSERT INTO q.task_run
    (id, workflow_id, task, lane, priority, grp, max_attempts, on_crash, run_at, expires_at, timeout_ms, max_silent_ms, status,
    waiting_for, waiting_on, concurrency_scope, concurrency_key, asked, payload)
  OVERRIDING SYSTEM VALUE
  SELECT id, ${workflowId}, task, lane, coalesce(priority, 0), coalesce(grp, ''), coalesce(max_attempts, 1), on_crash,
    clock_timestamp() + CASE WHEN opens THEN coalesce(delay_ms, 0) ELSE 0 END * interval '1 ms',
    clock_timestamp() + expires_ms * interval '1 ms', timeout_ms, max_silent_ms,
    CASE WHEN opens AND asked IS NULL AND coalesce(delay_ms, 0) = 0 AND concurrency_key IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
    CASE WHEN NOT opens THEN 'parents' WHEN asked IS NOT NULL THEN 'task' WHEN delay_ms > 0 THEN 'time' WHEN concurrency_key IS NOT NULL THEN 'concurrency' END,
    waiting_on, concurrency_scope, concurrency_key, asked, coalesce(payload, 'null')
  FROM given
), steps AS (
  INSERT INTO q.workflow_step (run_id, workflow_id, name, kind, inputs, needs, tolerates, allows_failed, conditional,
    parallel_max, item_of, item_index, delay_ms, plan)
  SELECT id, ${workflowId}, name, kind, inputs, needs, tolerates, allows_failed, conditional, parallel_max, item_of, item_index,
    delay_ms, plan
  FROM given
)
SELECT string_agg(id::text, ',' ORDER BY ordinal) AS ids FROM given`.execute(trx)
  return (rows[0]?.ids.split(',') ?? []) as RunId[]
}

function rowText({ row, opens, waitingOn }: NewStep): string {
  const { settings } = row
  // Undefined values are left out, and are null in the record.
  return JSON.stringify({
    task: row.task,
    lane: row.lane,
    priority: settings.priority,
    grp: settings.group,
    max_attempts: settings.maxAttempts,
    on_crash: settings.onCrash,
    delay_ms: settings.delayMs,
    expires_ms: settings.expiresInMs,
    timeout_ms: settings.timeoutMs,
    max_silent_ms: settings.maxSilentMs,
    opens,
    waiting_on: waitingOn,
    concurrency_scope: settings.concurrency?.scope,
    concurrency_key: settings.concurrency === undefined ? undefined : storedKey(settings.concurrency),
    asked: isUnpublished(row) ? { priority: settings.priority, max_attempts: settings.maxAttempts } : undefined,
    payload: row.payload ?? null,
    name: row.name,
    kind: row.kind,
    inputs: row.inputs,
    needs: row.needs,
    tolerates: row.tolerates,
    allows_failed: row.allowsFailed,
    conditional: row.conditional,
    parallel_max: row.parallelMax,
    item_of: row.itemOf,
    item_index: row.itemIndex,
    plan: row.plan,
  })
}

function isUnpublished({ lane, kind }: StepRow): boolean {
  return lane === noLane && kind !== 'map' && kind !== 'workflow'
}
