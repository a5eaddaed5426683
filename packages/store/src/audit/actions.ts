/**
 * The audit log: actions of people through the page, the HTTP API or the command line. The surface records them: verbs of
 * the store and plain SQL leave no action.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { pageOf, placeOf, type ListRequest, type Page } from '../reads/page.ts'

export interface NewAction {
  readonly by: string
  readonly via: 'page' | 'api' | 'cli'
  /** drain, cancel, retry, pause, … */
  readonly what: string
  /** The object of the action. */
  readonly subject: string
  /** Plain data. */
  readonly detail?: unknown
  /** The answer of the action. */
  readonly answer: string
}

export interface Action extends Required<NewAction> {
  readonly id: string
  readonly at: Date
}

/** The facts that are known once an action has ended. */
export type ActionEnd = Pick<NewAction, 'subject' | 'detail' | 'answer'>

/** The answer of an action that has begun. It stays if the end cannot be recorded: what became of it is unknown. */
export const askedAnswer = 'asked'

const textMax = 1_000

/** Returns the id of the action. */
export async function recordAction(db: Db, action: NewAction): Promise<string> {
  const { id } = await db
    .insertInto('q.action')
    .values({
      acted_by: action.by.slice(0, textMax),
      via: action.via,
      what: action.what.slice(0, textMax),
      subject: action.subject.slice(0, textMax),
      answer: action.answer.slice(0, textMax),
      detail: sql`${JSON.stringify(action.detail ?? {})}::jsonb`,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Completes the row of an action that was recorded when it began. */
export async function endAction(db: Db, id: string, { subject, detail, answer }: ActionEnd): Promise<void> {
  await db
    .updateTable('q.action')
    .set({
      subject: subject.slice(0, textMax),
      answer: answer.slice(0, textMax),
      detail: sql`${JSON.stringify(detail ?? {})}::jsonb`,
    })
    .where('id', '=', id)
    .execute()
}

/** Returns the newest first. */
export async function listActions(db: Db, request: ListRequest = {}): Promise<Page<Action>> {
  const { limit, before } = placeOf(request)
  const rows = await db
    .selectFrom('q.action')
    .select(['id', 'acted_at as at', 'acted_by as by', 'via', 'what', 'subject', 'detail', 'answer'])
    .$if(before !== undefined, (actions) => actions.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.map((row) => ({ ...row, via: row.via as Action['via'] }))
  return pageOf(items, limit)
}
