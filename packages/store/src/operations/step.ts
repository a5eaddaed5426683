/**
 * Executes one step of the oldest open operation: changes a bounded number of runs and stores the position, in one
 * transaction. If the replica dies, or the answer to its commit is lost, the next step begins exactly where the last
 * committed one ended: it skips no run and changes none twice.
 *
 * The transaction locks the row of the operation, so two replicas never execute a step of one operation at the same
 * time. The lease keeps the operation with one replica from step to step.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { limitLockWaits, promoteKeys } from '../runs/promote.ts'
import { act, type Acted } from './act.ts'
import { operationColumns, type Operation } from './operation.ts'
import { applies } from './request.ts'
import { filterOf } from './stored-filter.ts'

export interface StepRequest {
  /** The id of the replica or program that executes it. */
  readonly holder: string
  /** How long no other replica may execute it after this step. */
  readonly forMs: number
  /** The most runs that one step changes. Default: 200. */
  readonly runsMax?: number
}

const runsDefault = 200
/** The most runs that one step reads, whether they match or not. A payload may have 1 MiB, and its search must end in time. */
const lookMax = { rows: 50_000, payloads: 2_000 } as const

export interface StepAnswer {
  /** The operation after the step; undefined: there was none to execute. */
  readonly worked: Operation | undefined
  /** Time until another holder's lease on an open operation ends, if there is one. */
  readonly leasedForMs?: number | undefined
}

export async function stepOperations(db: Db, request: StepRequest): Promise<StepAnswer> {
  const step = await inTransaction(db, (trx) => stepOne(trx, request))
  if (step === undefined) return { worked: undefined, leasedForMs: await leasedForMs(db) }
  if (step.keys.length > 0) await promoteKeys(db, step.keys)
  return { worked: step.operation }
}

async function leasedForMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    SELECT min(greatest(0, extract(epoch FROM leased_until - clock_timestamp()) * 1000))::float8 AS ms
    FROM q.operation WHERE finished_at IS NULL`.execute(db)
  return rows[0]?.ms ?? undefined
}

interface Open extends Pick<Operation, 'id' | 'kind' | 'filter' | 'askedBy' | 'answers'> {
  /** As text: a Date would lose the microseconds, and with them the runs that failed in the millisecond of the request. */
  readonly askedAt: string
  readonly nextId: RunId | null
  readonly stop: boolean
}

interface Step {
  readonly operation: Operation
  /** Concurrency keys that the changed runs wait for. */
  readonly keys: readonly string[]
}

async function stepOne(trx: Db, request: StepRequest): Promise<Step | undefined> {
  const { rows } = await sql<Open>`
SELECT id, kind, filter, asked_at::text AS "askedAt", asked_by AS "askedBy", answers, next_id AS "nextId", stop_asked_at IS NOT NULL AS stop
FROM q.operation WHERE finished_at IS NULL AND (leased_by = ${request.holder} OR coalesce(leased_until, '-infinity') < clock_timestamp())
ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(trx)
  const [open] = rows
  if (open === undefined) return undefined
  if (open.stop || open.nextId === null) return { operation: await end(trx, open), keys: [] }
  await limitLockWaits(trx)
  const { ids, next } = await look(trx, open, request.runsMax ?? runsDefault)
  const acted = await act(trx, open.kind, ids, { id: open.id, by: open.askedBy })
  return { operation: await advance(trx, open, request, ids, next, acted), keys: acted.keys }
}

/** Returns the next matching runs, and the position after them; null: no run is left. */
async function look(trx: Db, open: Open, runsMax: number): Promise<{ ids: RunId[]; next: RunId | null }> {
  const condition = applies(open.kind, filterOf(open.filter), sql`${open.askedAt}::timestamptz`)
  const most = open.filter.payload === undefined ? lookMax.rows : lookMax.payloads
  const { rows } = await sql<{ ids: RunId[]; beyond: RunId | null }>`
WITH beyond AS MATERIALIZED (
  SELECT id FROM q.task_run WHERE id <= ${open.nextId} ORDER BY id DESC OFFSET ${most} LIMIT 1
)
SELECT ARRAY(SELECT r.id::text FROM q.task_run r
  WHERE r.id <= ${open.nextId} AND r.id > coalesce((SELECT id FROM beyond), 0) AND ${condition}
  ORDER BY r.id DESC LIMIT ${runsMax}) AS ids, (SELECT id::text FROM beyond) AS beyond`.execute(trx)
  const { ids = [], beyond = null } = rows[0] ?? {}
  const last = ids.at(-1)
  return { ids, next: ids.length === runsMax && last !== undefined ? before(last) : beyond }
}

function before(id: RunId): RunId {
  return String(BigInt(id) - 1n) as RunId
}

async function advance(
  trx: Db,
  open: Open,
  { holder, forMs }: StepRequest,
  ids: readonly RunId[],
  next: RunId | null,
  acted: Acted,
): Promise<Operation> {
  const answers: Record<string, number> = { ...open.answers }
  for (const answer of acted.answers) answers[answer] = (answers[answer] ?? 0) + 1
  const { rows } = await sql<Operation>`
UPDATE q.operation SET next_id = ${next}, looked = looked + ${ids.length}, changed = changed + ${acted.changed},
  answers = ${JSON.stringify(answers)}::jsonb, leased_by = ${holder}, leased_until = clock_timestamp() + ${forMs}::float8 * interval '1 ms',
  finished_at = CASE WHEN ${next}::bigint IS NULL THEN clock_timestamp() END
WHERE id = ${open.id} RETURNING ${operationColumns}`.execute(trx)
  return rows[0] as Operation
}

async function end(trx: Db, { id }: Open): Promise<Operation> {
  const { rows } = await sql<Operation>`
UPDATE q.operation SET finished_at = clock_timestamp() WHERE id = ${id} RETURNING ${operationColumns}`.execute(trx)
  return rows[0] as Operation
}
