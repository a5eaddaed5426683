/**
 * The state machine as the guard of q.task_run, in SQL about a change from OLD to NEW. A migration carries its text; a test
 * compares the guard in the database with this.
 *
 * PostgreSQL reads the condition of a trigger again for each statement, so it is short: it lets the usual changes pass.
 * The function behind it judges all others by the whole law.
 */
import {
  beginnings,
  counts,
  isTerminal,
  taskStates,
  transitions,
  usualChanges,
  type TaskState,
  type UsualChange,
} from './task-states.ts'

/** The outcome, and what it was the outcome of. */
const keptAfterTheEnd = ['result', 'finished_at', 'replica_id', 'epoch', 'task', 'payload']

/** True of every change but the usual ones: the condition of the trigger. */
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

/** True of a change that the table of states does not allow: what the function refuses. */
export function illegalChange(): string {
  return `NEW.fence < OLD.fence
    OR NEW.epoch <> OLD.epoch AND OLD.finished_at IS NULL
    OR CASE
      WHEN NEW.epoch <> OLD.epoch THEN
        NEW.status <> ALL (${setOf(beginnings)}::q.task_status[])
        OR NEW.epoch <> OLD.epoch + 1 OR NEW.fence = OLD.fence OR NEW.attempt <> 0 OR NEW.crash_count <> 0
      WHEN NEW.status IS DISTINCT FROM OLD.status THEN
        NEW.status <> ALL (CASE OLD.status
          ${taskStates
            .filter((state) => !isTerminal(state))
            .map(branch)
            .join('\n          ')}
          ELSE '{}'::q.task_status[]
        END)
        OR ${Object.entries(counts).map(countChange).join('\n        OR ')}
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

/** By nothing, or by so much: hand-made SQL that sets RUNNING need not know about attempts. */
function countChange([count, by]: [string, { enteringRunning: number; leavingRunning: number }]): string {
  return `NEW.${count} - OLD.${count} NOT IN (0, CASE WHEN NEW.status = 'RUNNING' THEN ${by.enteringRunning}
          WHEN OLD.status = 'RUNNING' THEN ${by.leavingRunning} ELSE 0 END)`
}

function columns(row: 'OLD' | 'NEW'): string {
  return keptAfterTheEnd.map((column) => `${row}.${column}`).join(', ')
}
