/**
 * What the triggers that write reports do for a batch of runs, in a session with the settings of a replica, as PostgreSQL
 * explains it.
 */
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { fixture } from '../fixture.ts'
import { pairsInVainOf, pins, type Explained } from '../plans/explain.ts'

const { db, url, store, enqueue } = await fixture()
const few = 2
const many = 300

test.each([
  ['status', []],
  ['status', ['another-task']],
  ['run-ended', []],
  ['run-ended', ['another-task']],
] as const)('a batch of runs compares each run once with its earlier row (%s, tasks %j)', async (report, tasks) => {
  const destination = { name: 'hook', kind: 'log', reports: [report], tasks: [...tasks] }
  await store.putDestination(destination)
  onTestFinished(async () => void (await store.removeDestination('hook')))
  const session = await replicaSession()
  // Kept plans are made for few runs.
  for (const count of [few, many]) {
    const ids = await enqueue('batched', { count })
    const plans = await session.plansOf(`
      UPDATE q.task_run SET status = 'RUNNING', replica_id = 'holder-1' WHERE id = ANY('{${ids.join(',')}}')`)
    plans.push(
      ...(await session.plansOf(`
      UPDATE q.task_run SET status = 'SUCCEEDED', finished_at = clock_timestamp() WHERE id = ANY('{${ids.join(',')}}')`)),
    )
    const ofTrigger = plans.filter((plan) => plan['Query Text'].includes('INSERT INTO q.delivery'))
    expect(ofTrigger).toHaveLength(2)
    for (const { Plan } of ofTrigger) expect(pairsInVainOf(Plan)).toBeLessThanOrEqual(many)
  }
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM q.delivery`.execute(db)
  expect(rows[0]?.count).toBe(tasks.length > 0 ? 0 : report === 'status' ? 3 * (few + many) : few + many)
  await sql`DELETE FROM q.delivery`.execute(db)
})

interface LoggedPlan extends Explained {
  readonly 'Query Text': string
}

/** Returns the plans of a statement and of all statements in triggers. */
async function replicaSession(): Promise<{ plansOf(statement: string): Promise<LoggedPlan[]> }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`LOAD 'auto_explain'`)
  const settings = { log_min_duration: '0', log_nested_statements: 'on', log_analyze: 'on', log_timing: 'off' }
  for (const [name, value] of Object.entries({ ...settings, log_format: 'json', log_level: 'notice' }))
    await client.query(`SET auto_explain.${name} = ${value}`)
  await client.query('SET plan_cache_mode = force_generic_plan')
  for (const pin of pins) await client.query(`SET ${pin} = off`)
  const notices: string[] = []
  client.on('notice', ({ message }) => void notices.push(message ?? ''))
  return {
    async plansOf(statement) {
      notices.length = 0
      await client.query(statement)
      return notices.map((text) => JSON.parse(text.slice(text.indexOf('{'))) as LoggedPlan)
    },
  }
}
