/**
 * Time passes: every moment in the database is moved into the past, so that to the code nothing has changed but the age
 * of things. The product has no second clock, and needs none.
 *
 * Schedules have looked no farther than the calendar that the journey turns (test-calendar.ts): what the clock on the
 * wall has added since is taken back first.
 *
 * All of it in one transaction, under a lock that keeps writers out. The guard, which lets nobody change an end, looks
 * away for as long.
 */
import { ExplainedError } from '@q/schema'
import { durationMs, type Duration } from '@q/task'
import { Client } from 'pg'
import { keyedByTime, moving } from './moments.ts'

const lockMsMax = 5_000
const lockTimeout = '55P03'

export interface Journey {
  /** When the calendar of the schedules was made, by the database's clock. */
  readonly calendarBegan?: Date
  /** How long others may keep it waiting. */
  readonly lockMs?: number
}

export async function travel(url: string, by: Duration, journey: Journey = {}): Promise<void> {
  const { calendarBegan, lockMs = lockMsMax } = journey
  const ms = durationMs(by)
  const client = new Client({ connectionString: url, application_name: 'q testing' })
  client.on('error', () => {}) // the next query says it better
  await client.connect()
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${Math.round(lockMs)};
      ALTER TABLE q.task_run DISABLE TRIGGER task_run_guard`)
    if (calendarBegan !== undefined) await client.query(standStill, [calendarBegan.toISOString()])
    for (const [table, columns] of Object.entries(moving)) await move(client, table, columns, ms)
    await client.query('ALTER TABLE q.task_run ENABLE TRIGGER task_run_guard; COMMIT')
  } catch (error) {
    throw error instanceof Error && Reflect.get(error, 'code') === lockTimeout ? blocked(error, lockMs) : error
  } finally {
    await client.end()
  }
}

const standStill = 'UPDATE q.schedule SET seen_until = least(seen_until, $1::timestamptz)'

/** Farther than anybody travels, in hours: they are all of the same length. */
const farAway = `interval '40000000 hours'`

async function move(client: Client, table: string, columns: readonly string[], ms: number): Promise<void> {
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
    fix: 'Commit or roll back what the test, or the code under test, has begun, and travel then.',
    cause,
  })
}
