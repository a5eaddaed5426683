/**
 * – → AVAILABLE | PENDING
 *
 * A run with a delay is PENDING at the gate `time` until promote opens it. The statement is one insert, so it is as
 * durable, or as undone, as the transaction it is part of. Nothing is notified here: a wake is sent after the commit.
 */
import { ExplainedError, type TaskState } from '@q/schema'
import type { CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { fromNow } from '../clock.ts'
import type { RunId } from '../lease.ts'

export interface NewRun {
  readonly task: string
  readonly lane: number
  /** JSON text: what is stored is what the caller serialised. */
  readonly payload: string
  readonly delayMs?: number
  readonly priority?: number
  readonly onCrash?: 'fail' | 'retry'
}

export interface EnqueuedRun {
  readonly id: RunId
  readonly status: 'PENDING' | 'AVAILABLE'
}

/** Answers in the order asked. */
export async function enqueueTaskRuns(db: Db, runs: readonly NewRun[]): Promise<EnqueuedRun[]> {
  if (runs.length === 0) return []
  try {
    const { rows } = await db.executeQuery(enqueueStatement(db, runs))
    return rows.map((row) => ({ id: row.id as RunId, status: row.status as EnqueuedRun['status'] }))
  } catch (error) {
    throw unstorable(error)
  }
}

export function enqueueStatement(db: Db, runs: readonly NewRun[]): CompiledQuery<{ id: string; status: TaskState }> {
  return db
    .insertInto('q.task_run')
    .values(
      runs.map((run) => ({
        task: run.task,
        lane: run.lane,
        payload: run.payload,
        priority: run.priority ?? 0,
        on_crash: run.onCrash ?? null,
        run_at: fromNow(run.delayMs ?? 0),
        status: run.delayMs === undefined ? ('AVAILABLE' as const) : ('PENDING' as const),
        waiting_for: run.delayMs === undefined ? null : 'time',
      })),
    )
    .returning(['id', 'status'])
    .compile()
}

/** 22P05 and 22P02: text that PostgreSQL's jsonb cannot hold. */
function unstorable(error: unknown): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (code !== '22P05' && code !== '22P02') return error
  return new ExplainedError({
    code: 'PAYLOAD_UNSTORABLE',
    what: 'The payload cannot be stored; nothing was enqueued.',
    why: 'It contains a NUL character or half of a surrogate pair, which jsonb does not hold.',
    fix: 'Remove such characters, or encode the text (base64, for instance).',
    cause: error,
  })
}
