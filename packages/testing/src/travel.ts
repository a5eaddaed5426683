/**
 * Lets time pass by moving every timestamp in the database into the past. The code under test sees older rows; no second
 * clock is needed.
 *
 * Schedules follow the test calendar (test-calendar.ts): the wall-clock time that has passed since is subtracted first.
 *
 * It is one transaction under a lock that blocks writers. The guard trigger, which rejects changes of ended runs, is disabled
 * inside it.
 */
import { ExplainedError } from '@q/schema'
import { durationMs, type Duration } from '@q/task'
import { Client } from 'pg'
import { keyedByTime, shifted } from './timestamp-columns.ts'

const lockMsMax = 5_000
const lockTimeout = '55P03'

export interface TravelOptions {
  /** When the calendar was created, by the database clock. */
  readonly calendarBegan?: Date
  /** How long to wait for the lock. */
  readonly lockMs?: number
}

export async function travel(url: string, by: Duration, options: TravelOptions = {}): Promise<void> {
  const { calendarBegan, lockMs = lockMsMax } = options
  const ms = durationMs(by)
  const client = new Client({ connectionString: url, application_name: 'q testing' })
  client.on('error', () => {}) // the next query says it better
  await client.connect()
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${Math.round(lockMs)};
      ALTER TABLE q.task_run DISABLE TRIGGER task_run_guard`)
    if (calendarBegan !== undefined) await client.query(rewindSchedules, [calendarBegan.toISOString()])
    for (const [table, columns] of Object.entries(shifted)) await shift(client, table, columns, ms)
    await client.query('ALTER TABLE q.task_run ENABLE TRIGGER task_run_guard; COMMIT')
  } catch (error) {
    throw error instanceof Error && Reflect.get(error, 'code') === lockTimeout ? blocked(error, lockMs) : error
  } finally {
    await client.end()
  }
}

const rewindSchedules = 'UPDATE q.schedule SET seen_until = least(seen_until, $1::timestamptz)'

/** The longest step in time. In hours, because days vary in length. */
const farAway = `interval '40000000 hours'`

async function shift(client: Client, table: string, columns: readonly string[], ms: number): Promise<void> {
  const by = (interval: string) => columns.map((column) => `${column} = ${column} ${interval}`).join(', ')
  const ago = `- $1::float8 * interval '1 ms'`
  const detour = keyedByTime.includes(table)
  if (detour) await client.query(`UPDATE q.${table} SET ${by(`+ ${farAway}`)}`)
  await client.query(`UPDATE q.${table} SET ${by(detour ? `- ${farAway} ${ago}` : ago)}`, [ms])
}

function blocked(cause: Error, lockMs: number): ExplainedError {
  return new ExplainedError({
    code: 'TRAVEL_BLOCKED',
    what: 'travel() could not move time; nothing was changed.',
    why: `A transaction in the test's database has been open for longer than ${lockMs} ms.`,
    fix: 'Commit or roll back the open transactions of the test and of the code under test, then call travel().',
    cause,
  })
}
