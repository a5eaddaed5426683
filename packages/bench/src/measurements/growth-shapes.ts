/** Fills tables with runs that a claim does not take. It inserts rows in their final states, with triggers disabled. */
import { closeConnection, queryRows } from '../machine/database.ts'
import { holdSnapshot, type HeldSnapshot } from '../machine/held-snapshot.ts'

export interface Shape {
  readonly label: string
  /** Returns the session that holds a snapshot, if the shape has one. */
  fill(url: string, options: FillOptions): Promise<HeldSnapshot | undefined>
}

interface FillOptions {
  readonly lane: number
  readonly task: string
  /** The number of finished runs; other kinds are fewer. */
  readonly rows: number
}

const others = 0.3
const dead = 0.2

export const emptyTable: Shape = { label: 'empty table', fill: async () => undefined }

export const shapes: readonly Shape[] = [
  emptyTable,
  filled('1 M finished runs', 1, (lane, task) => ({
    columns: 'lane, task, status, fence, attempt, replica_id, claimed_at, started_at, finished_at, result',
    values: `${lane}, '${task}', 'SUCCEEDED', 1, 1, 'replica-' || i % 100, now(), now(), now(), '1'`,
  })),
  filled('300 k runs blocked by concurrency keys', others, (lane, task) => ({
    columns: 'lane, task, status, waiting_for, concurrency_scope, concurrency_key',
    values: `${lane}, '${task}', 'PENDING', 'concurrency', 'blocked', 'blocked' || chr(31) || i / 100`,
  })),
  filled('300 k runs that no replica serves', others, (lane) => ({
    columns: 'lane, task',
    values: `${lane + 1_000}, 'unserved'`,
  })),
  filled('300 k runs in the future', others, (lane, task) => ({
    columns: 'lane, task, status, waiting_for, run_at',
    values: `${lane}, '${task}', 'PENDING', 'time', now() + interval '1 day'`,
  })),
  { label: 'held snapshot and 200 k dead tuples', fill: fillWithDeadTuples },
]

interface Rows {
  readonly columns: string
  readonly values: string
}

function filled(label: string, share: number, rowsOf: (lane: number, task: string) => Rows): Shape {
  return {
    label,
    async fill(url, { lane, task, rows }) {
      const { columns, values } = rowsOf(lane, task)
      await withoutTriggers(
        url,
        `INSERT INTO q.task_run (${columns}) SELECT ${values} FROM generate_series(1, ${Math.ceil(rows * share)}) i`,
      )
      await queryRows(url, 'VACUUM (ANALYZE) q.task_run')
      await closeConnection(url)
      return undefined
    },
  }
}

/** Runs that were ready when a snapshot was taken and have ended since: their entries stay at the head of the ready index. */
async function fillWithDeadTuples(url: string, { lane, task, rows }: FillOptions): Promise<HeldSnapshot> {
  await withoutTriggers(
    url,
    `INSERT INTO q.task_run (lane, task) SELECT ${lane}, '${task}' FROM generate_series(1, ${Math.ceil(rows * dead)})`,
  )
  await queryRows(url, 'VACUUM (ANALYZE) q.task_run')
  const snapshot = await holdSnapshot(url)
  await withoutTriggers(
    url,
    `UPDATE q.task_run SET status = 'SUCCEEDED', fence = 1, attempt = 1, replica_id = 'bench', started_at = now(), finished_at = now(), result = '1'`,
  )
  await closeConnection(url)
  return snapshot
}

async function withoutTriggers(url: string, statement: string): Promise<void> {
  await queryRows(url, `SET session_replication_role = replica`)
  await queryRows(url, statement)
  await queryRows(url, `RESET session_replication_role`)
}
