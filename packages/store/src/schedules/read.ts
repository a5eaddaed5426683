/** Reads schedules. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { scheduleColumns, type Schedule } from './schedule.ts'

export async function listSchedules(db: Db): Promise<Schedule[]> {
  return (await sql<Schedule>`SELECT ${scheduleColumns} FROM q.schedule ORDER BY name`.execute(db)).rows
}

export async function getSchedule(db: Db, name: string): Promise<Schedule | undefined> {
  const { rows } = await sql<Schedule>`SELECT ${scheduleColumns} FROM q.schedule WHERE name = ${name}`.execute(db)
  return rows[0]
}
