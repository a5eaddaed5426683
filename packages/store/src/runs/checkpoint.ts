/**
 * Saves the state of a run's code under its lease, so that a later attempt continues from it. At most 1 MiB of JSON
 * that jsonb returns unchanged; anything else is rejected before it is sent, so that a transaction around it can
 * continue. A lost lease saves nothing, and an event records that.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, jsonLimits, jsonReasons, problemsText } from '@q/schema/json'
import type { Db } from '../connection/db.ts'
import { now } from '../clock.ts'
import { auditRefusedWrites } from '../events/audit-refused-writes.ts'
import type { Lease } from '../lease.ts'

/** `state` is JSON text. */
export async function checkpointTaskRun(db: Db, lease: Lease, state: string): Promise<'saved' | 'lease-lost'> {
  const { numUpdatedRows } = await db
    .updateTable('q.task_run')
    .set({ checkpoint: storableState(state), updated_at: now })
    .where('id', '=', lease.runId)
    .where('fence', '=', lease.fence)
    .where('status', '=', 'RUNNING')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 1n) return 'saved'
  await auditRefusedWrites(db, 'refused-checkpoint', [lease])
  return 'lease-lost'
}

function storableState(state: string): string {
  if (Buffer.byteLength(state) > jsonLimits.bytesMax) throw refused('too-large', 'it has more than 1 MiB')
  const checked = checkJson(parsed(state))
  if (checked.ok) return checked.text
  throw refused(jsonReasons[checked.problems[0].reason], problemsText(checked.problems))
}

function parsed(state: string): unknown {
  try {
    return JSON.parse(state)
  } catch (error) {
    throw refused('not-json', 'the text is not JSON', error)
  }
}

const refusals = {
  'not-json': {
    code: 'CHECKPOINT_NOT_JSON',
    what: 'A checkpoint is not JSON; the one before it stays.',
    fix: 'Pass text that JSON.stringify made.',
  },
  unstorable: {
    code: 'CHECKPOINT_UNSTORABLE',
    what: 'A checkpoint cannot be stored; the one before it stays.',
    fix: 'Remove such characters and numbers, or encode them (text as base64, for instance); nest less deeply.',
  },
  'too-large': {
    code: 'CHECKPOINT_TOO_LARGE',
    what: 'A checkpoint is too large; the one before it stays.',
    fix: 'Store it elsewhere and save where it is.',
  },
} as const

function refused(fault: keyof typeof refusals, why: string, cause?: unknown): ExplainedError {
  return new ExplainedError({ ...refusals[fault], why: `${why}.`, cause })
}
