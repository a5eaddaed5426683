/** Values that are named like a secret are hidden by every command, as on the page, and shown to a person who asks, which the audit records. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { q } from './terminal.ts'

const cluster = await exampleCluster()
const { env, runs } = cluster
const id = runs.succeeded
afterAll(() => cluster.close())

beforeAll(async () => {
  const value = sql`'{"apiKey": "a canary", "number": 9007199254740993, "list": [{"password": "a canary"}]}'::jsonb`
  // Which edges a run may take does not matter here; no command changes a payload.
  await cluster.execute(sql`ALTER TABLE q.task_run DISABLE TRIGGER USER`)
  await cluster.execute(
    sql`UPDATE q.task_run SET payload = ${value}, result = ${value}, checkpoint = ${value} WHERE id = ${id}`,
  )
  await cluster.execute(sql`ALTER TABLE q.task_run ENABLE TRIGGER USER`)
  await cluster.execute(sql`UPDATE q.task_log SET facts = ${value} WHERE run_id = ${id}`)
  await cluster.execute(sql`UPDATE q.workflow SET input = ${value}`)
  await cluster.execute(sql`UPDATE q.schedule SET payload = ${value}`)
})

test.each([
  `show ${id}`,
  `logs ${id}`,
  'runs',
  'schedules',
  'schedules nightly',
  'workflows',
  `workflows show ${cluster.workflow}`,
  'top --count 1',
])('q %s shows no secret, neither as text nor as data', async (line) => {
  for (const args of [line.split(' '), [...line.split(' '), '--json']]) {
    const { code, stdout, stderr } = await q(args, env)
    expect({ args, code, shown: `${stdout}${stderr}`.includes('canary') }).toEqual({ args, code: 0, shown: false })
  }
})

test('q show counts what it hides and names the command that reveals it; numbers keep their digits', async () => {
  const { stdout } = await q(['show', id], env)
  expect(stdout).toContain('{"list":[{"password":"[hidden]"}],"apiKey":"[hidden]","number":9007199254740993}')
  expect(stdout).toContain(`6 values hidden: q show ${id} --reveal`)
})

test('q show --reveal shows the values and leaves a row in the audit', async () => {
  const { stdout } = await q(['show', id, '--reveal'], env)
  expect(stdout).toContain('"apiKey": "a canary"')
  expect(stdout).not.toContain('hidden: q show')
  expect((await q(['actions'], env)).stdout).toMatch(new RegExp(`tester .*reveal +run ${id} .*revealed`))
})

test('a payload with a hidden value is not enqueued again; the editor gets it revealed only if asked', async () => {
  const refused = { code: 2, stdout: '', stderr: expect.stringContaining('PAYLOAD_HIDDEN') as string }
  expect(await q(['again', id, '--payload', '{"apiKey": "[hidden]"}'], env)).toEqual(refused)
  const editing = { ...env, EDITOR: 'true' }
  expect(await q(['again', id, '--edit'], editing, { answers: [] })).toEqual(refused)
  expect(await q(['again', id, '--edit', '--reveal'], editing, { answers: [] })).toMatchObject({ code: 0 })
  expect(await q(['again', id], env)).toMatchObject({ code: 0 })
})

test('Q_HTTP_HIDE says which names are secrets, here too', async () => {
  const shown = async (Q_HTTP_HIDE: string) => q(['show', id], { ...env, Q_HTTP_HIDE })
  expect((await shown('none')).stdout).toContain('"apiKey": "a canary"')
  expect((await shown('number')).stdout).toContain('"apiKey": "a canary"')
  expect((await shown('list')).stdout).toContain('"list":"[hidden]"')
  expect(await shown('?')).toMatchObject({ code: 2, stderr: expect.stringContaining('CONFIG_INVALID') as string })
})
