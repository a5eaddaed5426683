/**
 * Reads results of steps where they are stored: nothing is copied to the steps that use them. They are JSON text, so that
 * callers that pass them on do not parse them.
 *
 * A missing result is an object with `code` and `detail`: those of the step that did not succeed (WORKER_CRASHED,
 * TASK_CANCELLED, UPSTREAM_FAILED, …), or RESULT_NOT_AVAILABLE for a step that has not ended or whose result was removed. A
 * pointer that the result does not have gives null. The result of a map is the list of its items' results, or
 * RESULT_TOO_LARGE, because PostgreSQL limits the size of a list.
 */
import { ExplainedError, isTerminal, type TaskState, type TerminalState } from '@q/schema'
import { jsonLimits } from '@q/schema/json'
import { filledText, valueAt, type ValueRef, type Template } from '@q/schema/workflow'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { isRefusal } from '../connection/sql-state.ts'
import type { WorkflowId } from './new-workflow.ts'

/** Limit of a list, as JSON. As jsonb it is up to six times as long, and jsonb holds at most 256 MiB. */
export const listBytesMax: number = 32 * jsonLimits.bytesMax

export interface StepValueRequest {
  readonly workflowId: WorkflowId
  readonly step: string
  readonly at: string
}

export interface StepValue {
  /** JSON text. */
  readonly text: string
  /** Whether there is no result: the text has the reason. */
  readonly missing: boolean
  /** Undefined: the step has not ended, or no longer exists. */
  readonly end: TerminalState | undefined
  /** Whether it is the result of a map and too large. */
  readonly tooLarge: boolean
}

/** Returns one answer per request, in the order given. */
export async function stepValues(db: Db, requests: readonly StepValueRequest[]): Promise<StepValue[]> {
  if (requests.length === 0) return []
  const { rows } = await sql<ValueRow>`
SELECT found.text, found.missing, found.status, found.too_large AS "tooLarge"
FROM unnest(${requests.map((ask) => ask.workflowId)}::bigint[], ${requests.map((ask) => ask.step)}::text[], ${requests.map((ask) => ask.at)}::text[])
  WITH ORDINALITY AS ask(workflow_id, step, at, ordinal)
CROSS JOIN LATERAL (${valueOf(sql`ask.workflow_id`, sql`ask.step`, sql`ask.at`)}) found
ORDER BY ask.ordinal`.execute(db)
  return rows.map(({ text, missing, status, tooLarge }) => ({
    text,
    missing,
    tooLarge,
    end: status !== null && isTerminal(status) ? status : undefined,
  }))
}

interface ValueRow {
  readonly text: string
  readonly missing: boolean
  readonly status: TaskState | null
  readonly tooLarge: boolean
}

/**
 * Returns the filled payloads of steps that are about to start, as JSON text by run. Payloads without references are left
 * out. A payload that exceeds what the database can assemble is rejected with the reason.
 */
export async function stepPayloads(db: Db, runIds: readonly RunId[]): Promise<Map<RunId, string>> {
  const { rows } = await sql<{ id: RunId; payload: unknown; pointer: string; text: string }>`
SELECT r.id, r.payload, input.key AS pointer, found.text
FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id
CROSS JOIN LATERAL jsonb_each(s.inputs) input
CROSS JOIN LATERAL (${valueOf(sql`s.workflow_id`, sql`input.value ->> 'step'`, sql`input.value ->> 'at'`)}) found
WHERE s.run_id = ANY(${runIds}::bigint[])`
    .execute(db)
    .catch(unreadable)
  const filled = Map.groupBy(rows, (row) => row.id)
  return new Map(
    [...filled].map(([id, inputs]) => [
      id,
      filledText(inputs[0]?.payload, new Map(inputs.map(({ pointer, text }) => [pointer, text]))),
    ]),
  )
}

function unreadable(error: unknown): never {
  if (!isRefusal(error)) throw error
  throw new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: 'The results of other steps cannot be put into the payload of a step.',
    why: error instanceof Error ? error.message : String(error),
    fix: 'Let those steps return less, or where it is stored; or take a part of what they return.',
    cause: error,
  })
}

/** Fills a template of a workflow: returns JSON text, and whether a list in it is too large. */
export async function filledTemplate(
  db: Db,
  workflow: { readonly id: WorkflowId; readonly input: unknown },
  { value, holes: references }: Template,
): Promise<{ readonly text: string; readonly tooLarge: boolean }> {
  const entries = Object.entries(references)
  const asked = entries.flatMap(([pointer, ref]) => (ref.from === 'step' ? [{ pointer, ref }] : []))
  const values = await stepValues(
    db,
    asked.map(({ ref }) => ({ workflowId: workflow.id, step: ref.step, at: ref.at })),
  )
  const texts = new Map(asked.map(({ pointer }, ordinal) => [pointer, values[ordinal]?.text ?? 'null']))
  for (const [pointer, ref] of entries) if (ref.from === 'input') texts.set(pointer, inputText(workflow.input, ref))
  return { text: filledText(value, texts), tooLarge: values.some((found) => found.tooLarge) }
}

function inputText(input: unknown, ref: ValueRef): string {
  return JSON.stringify(valueAt(input, ref.at) ?? null)
}

/** Returns the keys along a JSON pointer, in the form that `#>` takes. */
function pathOf(at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`ARRAY(SELECT replace(replace(part, '~1', '/'), '~0', '~')
    FROM unnest((string_to_array(${at}, '/'))[2:]) WITH ORDINALITY AS parts(part, ordinal) ORDER BY ordinal)`
}

/** Returns one row of `text`, `missing`, `status` and `too_large` in every case. */
function valueOf(
  workflowId: RawBuilder<unknown>,
  step: RawBuilder<unknown>,
  at: RawBuilder<unknown>,
): RawBuilder<ValueRow> {
  return sql<ValueRow>`
  SELECT coalesce(CASE WHEN p.status = 'SUCCEEDED' THEN
      CASE WHEN src.kind <> 'map' THEN CASE WHEN p.result IS NOT NULL THEN coalesce(p.result #> way.path, 'null') END
        WHEN list.too_large THEN ${tooLarge}
        WHEN way.path = '{}' THEN (SELECT coalesce(jsonb_agg(${resultOf(sql`i`)} ORDER BY item.item_index), '[]')
          FROM q.workflow_step item JOIN q.task_run i ON i.id = item.run_id WHERE item.item_of = p.id)
        ELSE coalesce((SELECT ${resultOf(sql`i`)} #> way.path[2:] FROM q.workflow_step item JOIN q.task_run i ON i.id = item.run_id
          WHERE item.item_of = p.id AND item.item_index::text = way.path[1]), 'null') END
      WHEN p.finished_at IS NOT NULL THEN ${resultOf(sql`p`)} END, ${notAvailable})::text AS text,
    p.status IS DISTINCT FROM 'SUCCEEDED' OR src.kind <> 'map' AND p.result IS NULL OR list.too_large AS missing, p.status, list.too_large
  FROM (SELECT ${pathOf(at)} AS path) way
  LEFT JOIN q.workflow_step src ON src.workflow_id = ${workflowId} AND src.name = ${step}
  LEFT JOIN q.task_run p ON p.id = src.run_id
  CROSS JOIN LATERAL (SELECT coalesce(sum(octet_length(i.result::text)), 0) > ${listBytesMax} AS too_large
    FROM q.workflow_step item JOIN q.task_run i ON i.id = item.run_id
    WHERE src.kind = 'map' AND way.path = '{}' AND item.item_of = p.id) list`
}

const tooLarge = sql`jsonb_build_object('code', 'RESULT_TOO_LARGE', 'detail', ${`The list of what its items returned has more than ${listBytesMax} bytes.`}::text)`

const notAvailable = sql`jsonb_build_object('code', 'RESULT_NOT_AVAILABLE', 'detail', 'The step has not ended, or its result is gone.')`

/** Returns the result of an ended run. */
function resultOf(run: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN ${run}.status = 'SUCCEEDED' THEN coalesce(${run}.result, ${notAvailable})
    ELSE jsonb_build_object('code', ${run}.result -> 'code', 'detail', ${run}.result -> 'detail') END`
}
