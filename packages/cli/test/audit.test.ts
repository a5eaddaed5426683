/** The audit row of a command is written before its action, and completed after it. */
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { q } from './terminal.ts'

const cluster = await exampleCluster()
const { env } = cluster
afterAll(() => cluster.close())
beforeEach(() =>
  cluster.execute(
    sql`CREATE FUNCTION q.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused by the test''; END'`,
  ),
)
afterEach(() => cluster.execute(sql`DROP FUNCTION q.refuse CASCADE`))

const refuse = (writes: string, table: string) =>
  cluster.execute(
    sql`CREATE TRIGGER refuse BEFORE ${sql.raw(writes)} ON ${sql.table(table)} FOR EACH ROW EXECUTE FUNCTION q.refuse()`,
  )
const pause = (queue: string) => q(['queues', 'pause', queue, '--reason', 'a test'], env)

async function lastAction() {
  const { stdout } = await q(['actions', '--json'], env)
  const { what, subject, answer } = (JSON.parse(stdout) as { items: Record<string, unknown>[] }).items[0] ?? {}
  return { what, subject, answer }
}

async function isPaused(name: string): Promise<boolean> {
  const { stdout } = await q(['queues', '--json'], env)
  const { items } = JSON.parse(stdout) as { items: { queue: string; paused: boolean }[] }
  return items.some(({ queue, paused }) => queue === name && paused)
}

test('nothing is done if the row cannot be written', async () => {
  await refuse('INSERT', 'q.action')
  expect((await pause('first')).code).not.toBe(0)
  expect(await isPaused('first')).toBe(false)
})

test('an action whose answer cannot be recorded is reported as done, and its row says that it was asked for', async () => {
  await refuse('UPDATE', 'q.action')
  expect(await pause('second')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the audit says only that it was asked for') as string,
  })
  expect(await isPaused('second')).toBe(true)
  expect(await lastAction()).toMatchObject({ subject: 'queue second', answer: 'asked' })
})

test('an action that fails is not recorded as done', async () => {
  await refuse('INSERT OR UPDATE', 'q.queue')
  expect((await pause('third')).code).not.toBe(0)
  expect(await lastAction()).toMatchObject({ subject: 'queue third', answer: 'error' })
})
