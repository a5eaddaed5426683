/**
 * Generates the guard of q.task_run from the state table: SQL conditions on a change from OLD to NEW. A migration has a
 * copy of the text; a test compares the guard in the database with this one.
 *
 * PostgreSQL parses the condition of a trigger again for each statement, so it is short and only lets the usual changes
 * pass. The trigger's function checks all others against the whole table.
 */
import {
  initialStates,
  counterRules,
  isTerminal,
  taskStates,
  transitions,
  usualChanges,
  type TaskState,
  type UsualChange,
} from './task-states.ts'

/** Columns of a terminal run that never change: its outcome and its input. */
const keptAfterTheEnd = ['result', 'finished_at', 'replica_id', 'epoch', 'task', 'payload']

/** Returns the condition of the trigger: true for every change except the usual ones. */
export function unusualChange(): string {
  return `NOT (
    NEW.epoch = OLD.epoch AND NEW.crash_count = OLD.crash_count
    AND CASE NEW.status
      ${usualChanges.toReversed().map(usualBranch).join('\n      ')}
      ELSE false
    END
  )`
}

function usualBranch({ from, to, fence, attempt }: UsualChange): string {
  return `WHEN '${to}' THEN OLD.status = '${from}' AND NEW.fence = ${plus('fence', fence)} AND NEW.attempt = ${plus('attempt', attempt)}`
}

function plus(count: string, by: number): string {
  return by === 0 ? `OLD.${count}` : `OLD.${count} + ${by}`
}

/** Returns the condition under which the trigger's function rejects a change: the state table does not allow it. */
export function illegalChange(): string {
  return `NEW.fence < OLD.fence
    OR NEW.epoch <> OLD.epoch AND OLD.finished_at IS NULL
    OR CASE
      WHEN NEW.epoch <> OLD.epoch THEN
        NEW.status <> ALL (${setOf(initialStates)}::q.task_status[])
        OR NEW.epoch <> OLD.epoch + 1 OR NEW.fence = OLD.fence OR NEW.attempt <> 0 OR NEW.crash_count <> 0
      WHEN NEW.status IS DISTINCT FROM OLD.status THEN
        NEW.status <> ALL (CASE OLD.status
          ${taskStates
            .filter((state) => !isTerminal(state))
            .map(branch)
            .join('\n          ')}
          ELSE '{}'::q.task_status[]
        END)
        OR ${Object.entries(counterRules).map(countChange).join('\n        OR ')}
      ELSE
        NEW.fence <> OLD.fence OR NEW.attempt <> OLD.attempt OR NEW.crash_count <> OLD.crash_count
        OR OLD.finished_at IS NOT NULL
          AND (${columns('OLD')})
            IS DISTINCT FROM (${columns('NEW')})
    END`
}

function branch(from: TaskState): string {
  return `WHEN '${from}' THEN ${setOf(transitions[from])}::q.task_status[]`
}

function setOf(states: readonly TaskState[]): string {
  return `'{${states.join(',')}}'`
}

/** A counter may also stay the same, so that manual SQL can set RUNNING without counting an attempt. */
function countChange([count, by]: [string, { enteringRunning: number; leavingRunning: number }]): string {
  return `NEW.${count} - OLD.${count} NOT IN (0, CASE WHEN NEW.status = 'RUNNING' THEN ${by.enteringRunning}
          WHEN OLD.status = 'RUNNING' THEN ${by.leavingRunning} ELSE 0 END)`
}

function columns(row: 'OLD' | 'NEW'): string {
  return keptAfterTheEnd.map((column) => `${row}.${column}`).join(', ')
}
