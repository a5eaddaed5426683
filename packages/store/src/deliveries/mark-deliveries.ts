/**
 * Records the results of leased reports: delivered, to be tried again, or given up. A sender that has lost its lease
 * changes nothing. A report that a newer revision replaced in the meantime stays due.
 *
 * A failed report also postpones the later reports of the same run, workflow or replica: they have to wait for it, and
 * leasing would otherwise read them again and again. It does not wait for those that are locked: `redeliver` may wait for
 * the failed one. Retries double their delay, with jitter; after the last retry the report is given up, and the later ones
 * are sent.
 */
import { storableText } from '@q/schema/json'
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import { prepared } from '../connection/prepared.ts'

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number }
  /** Not tried: it does not count as an attempt. */
  | { readonly kind: 'postponed'; readonly error: string; readonly retryAfterMs: number }
  | { readonly kind: 'rejected'; readonly error: string }

export interface DeliveryMark {
  readonly id: string
  readonly revision: number
  readonly outcome: DeliveryOutcome
}

export interface MarkedDelivery {
  readonly id: string
  readonly became: 'delivered' | 'retried' | 'given-up' | 'replaced'
}

/** All delays together: about five hours. */
const attemptsMax = 15
const delayMs = { first: 5_000, max: 3_600_000 } as const
/** power() overflows after 1 024: a lease that expires counts as an attempt, and nothing bounds how often that happens. */
const doublingsMax = 20
const errorMax = 1_000

export async function markDeliveries(
  db: Db,
  holder: string,
  marks: readonly DeliveryMark[],
): Promise<MarkedDelivery[]> {
  if (marks.length === 0) return []
  return (await db.executeQuery(markStatement(holder, marks))).rows
}

export function markStatement(holder: string, marks: readonly DeliveryMark[]): CompiledQuery<MarkedDelivery> {
  const outcomes = marks.map(({ outcome }) => outcome)
  const mark = outcomes.some(({ kind }) => kind === 'failed' || kind === 'postponed') ? markRetries : markEnds
  return mark({
    holder,
    ids: marks.map(({ id }) => id),
    revisions: marks.map(({ revision }) => revision),
    kinds: outcomes.map(({ kind }) => kind),
    errors: outcomes.map((outcome) => ('error' in outcome ? storableText(outcome.error.slice(0, errorMax)) : null)),
    delays: outcomes.map((outcome) => ('retryAfterMs' in outcome ? outcome.retryAfterMs : 0)),
  })
}

interface MarkColumns {
  readonly holder: string
  readonly ids: readonly string[]
  readonly revisions: readonly number[]
  readonly kinds: readonly string[]
  readonly errors: readonly (string | null)[]
  readonly delays: readonly number[]
}

// Written in SQL: one statement changes the reports and those that wait for them.
const markWith = (name: string, postponed: RawBuilder<unknown>) =>
  prepared<MarkColumns, MarkedDelivery>(
    name,
    ({ holder, ids, revisions, kinds, errors, delays }) => sql<MarkedDelivery>`
WITH given AS MATERIALIZED (
  SELECT g.*, d.destination, d.order_key, CASE
    WHEN d.revision <> g.revision THEN 'replaced'
    WHEN g.kind = 'delivered' THEN 'delivered'
    WHEN g.kind = 'rejected' OR (g.kind = 'failed' AND d.attempts >= ${sql.lit(attemptsMax)}) THEN 'given-up'
    ELSE 'retried' END AS became,
    clock_timestamp() + greatest(g.delay_ms, CASE g.kind WHEN 'failed' THEN least(${sql.lit(delayMs.max)}, ${sql.lit(delayMs.first)} * power(2, least(d.attempts - 1, ${sql.lit(doublingsMax)})))
      * (0.75 + random() / 2) END) * interval '1 ms' AS next
  FROM unnest(${ids}::bigint[], ${revisions}::int[], ${kinds}::text[], ${errors}::text[], ${delays}::float8[])
    AS g(id, revision, kind, error, delay_ms)
  JOIN q.delivery d ON d.id = g.id AND d.leased_by = ${holder}::text
  ORDER BY g.id FOR NO KEY UPDATE OF d
)${postponed}
UPDATE q.delivery d SET leased_by = NULL, leased_until = NULL,
  attempts = d.attempts - CASE WHEN given.became = 'retried' AND given.kind = 'postponed' THEN 1 ELSE 0 END,
  delivered_at = CASE given.became WHEN 'delivered' THEN clock_timestamp() ELSE d.delivered_at END,
  due_at = CASE given.became WHEN 'replaced' THEN d.due_at WHEN 'retried' THEN given.next END,
  last_error = CASE given.became WHEN 'replaced' THEN d.last_error ELSE given.error END
FROM given WHERE d.id = given.id
RETURNING d.id, given.became`,
  )

// Two statements, because planning the second one takes longer, and nearly all batches are delivered.
const markEnds = markWith('mark-ended-deliveries', sql``)
const markRetries = markWith(
  'mark-deliveries',
  sql`, later AS MATERIALIZED (
  SELECT l.id, given.next FROM given JOIN q.delivery l ON l.destination = given.destination AND l.order_key = given.order_key
    AND l.id > given.id AND l.due_at < given.next
  WHERE given.became = 'retried' FOR NO KEY UPDATE OF l SKIP LOCKED
), postponed AS (
  UPDATE q.delivery d SET due_at = later.next FROM later WHERE d.id = later.id
)`,
)
