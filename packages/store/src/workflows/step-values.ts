/**
 * What steps returned, looked up where it is stored: nothing is copied to those who need it. As JSON text: who only
 * passes it on does not parse it.
 *
 * A result that there is not is an object with `code` and `detail` in its place: those of the step that did not succeed
 * (WORKER_CRASHED, TASK_CANCELLED, UPSTREAM_FAILED, …), or RESULT_NOT_AVAILABLE of one that has not ended or whose result
 * is gone. A place that the result does not have is null. The result of a map is the list of its items' results, or
 * RESULT_TOO_LARGE: PostgreSQL holds no list of any length.
 */
import { ExplainedError, isTerminal, type TaskState, type TerminalState } from '@q/schema'
import { jsonLimits } from '@q/schema/json'
import { filledText, valueAt, type Hole, type Template } from '@q/schema/workflow'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { isRefusal } from '../sql-state.ts'
import type { WorkflowId } from './new-workflow.ts'

/** Of a list, as JSON. As jsonb it is up to six times as long, and at most 256 MiB. */
export const listBytesMax: number = 32 * jsonLimits.bytesMax

export interface Ask {
  readonly workflowId: WorkflowId
  readonly step: string
  readonly at: string
}

export interface StepValue {
  /** JSON text. */
  readonly text: string
  /** It is no result: the text says why. */
  readonly missing: boolean
  /** Undefined: the step has not ended, or is gone. */
  readonly end: TerminalState | undefined
  /** It is the result of a map, and too long. */
  readonly tooLarge: boolean
}

/** One answer per question, in the order asked. */
export async function stepValues(db: Db, asks: readonly Ask[]): Promise<StepValue[]> {
  if (asks.length === 0) return []
  const { rows } = await sql<ValueRow>`
SELECT found.text, found.missing, found.status, found.too_large AS "tooLarge"
FROM unnest(${asks.map((ask) => ask.workflowId)}::bigint[], ${asks.map((ask) => ask.step)}::text[], ${asks.map((ask) => ask.at)}::text[])
  WITH ORDINALITY AS ask(workflow_id, step, at, place)
CROSS JOIN LATERAL (${valueOf(sql`ask.workflow_id`, sql`ask.step`, sql`ask.at`)}) found
ORDER BY ask.place`.execute(db)
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
 * Payloads of steps that are about to be started, filled: JSON text by run. Those without holes are not mentioned. One
 * that cannot be made, lists of results have a size that the database cannot put together, is refused with its reason.
 */
export async function stepPayloads(db: Db, runIds: readonly RunId[]): Promise<Map<RunId, string>> {
  const { rows } = await sql<{ id: RunId; payload: unknown; pointer: string; text: string }>`
SELECT r.id, r.payload, hole.key AS pointer, found.text
FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id
CROSS JOIN LATERAL jsonb_each(s.inputs) hole
CROSS JOIN LATERAL (${valueOf(sql`s.workflow_id`, sql`hole.value ->> 'step'`, sql`hole.value ->> 'at'`)}) found
WHERE s.run_id = ANY(${runIds}::bigint[])`
    .execute(db)
    .catch(unreadable)
  const filled = Map.groupBy(rows, (row) => row.id)
  return new Map(
    [...filled].map(([id, holes]) => [
      id,
      filledText(holes[0]?.payload, new Map(holes.map(({ pointer, text }) => [pointer, text]))),
    ]),
  )
}

function unreadable(error: unknown): never {
  if (!isRefusal(error)) throw error
  throw new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: 'What a step needs of other steps cannot be put into its payload.',
    why: error instanceof Error ? error.message : String(error),
    fix: 'Let those steps return less, or where it is stored; or take a part of what they return.',
    cause: error,
  })
}

/** A template of a workflow, filled: JSON text; and whether a list that belongs into it is too long. */
export async function filledTemplate(
  db: Db,
  workflow: { readonly id: WorkflowId; readonly input: unknown },
  { value, holes }: Template,
): Promise<{ readonly text: string; readonly tooLarge: boolean }> {
  const places = Object.entries(holes)
  const asked = places.flatMap(([pointer, hole]) => (hole.from === 'step' ? [{ pointer, hole }] : []))
  const values = await stepValues(
    db,
    asked.map(({ hole }) => ({ workflowId: workflow.id, step: hole.step, at: hole.at })),
  )
  const texts = new Map(asked.map(({ pointer }, place) => [pointer, values[place]?.text ?? 'null']))
  for (const [pointer, hole] of places) if (hole.from === 'input') texts.set(pointer, inputText(workflow.input, hole))
  return { text: filledText(value, texts), tooLarge: values.some((found) => found.tooLarge) }
}

function inputText(input: unknown, hole: Hole): string {
  return JSON.stringify(valueAt(input, hole.at) ?? null)
}

/** The keys along a JSON pointer, as `#>` takes them. */
function pathOf(at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`ARRAY(SELECT replace(replace(part, '~1', '/'), '~0', '~')
    FROM unnest((string_to_array(${at}, '/'))[2:]) WITH ORDINALITY AS parts(part, place) ORDER BY place)`
}

/** One row of `text`, `missing`, `status` and `too_large`, whatever there is. */
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

/** Of a run that has ended. */
function resultOf(run: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN ${run}.status = 'SUCCEEDED' THEN coalesce(${run}.result, ${notAvailable})
    ELSE jsonb_build_object('code', ${run}.result -> 'code', 'detail', ${run}.result -> 'detail') END`
}
