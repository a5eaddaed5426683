/** A list that is cut names the command of its next page: followed to the end, these commands list everything once. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
const { env, store, workflow, runs } = cluster
afterAll(() => cluster.close())

await cluster.execute(sql`INSERT INTO q.error_group (fingerprint, code, name, message, seen, first_seen, last_seen, last_run_id, tasks, versions, muted_until)
  SELECT left(md5(n::text), 16), 'TASK_ERROR', 'Error', 'broken', 1, now(), now() - n * interval '1 s', ${runs.failed},
    '{resize}', '{}', CASE WHEN n = 2 THEN now() + interval '1 h' END FROM generate_series(1, 3) n`)
for (let index = 0; index < 3; index++) {
  await store.requestOperation({ kind: 'retry', filter: { task: 'no-such-task' }, by: 'ada' })
  await store.recordAction({ by: 'ada', via: 'cli', what: 'test', subject: 'x', answer: 'done', detail: {} })
  const lane = await store.internLane({ queue: 'default', task: 'resize' })
  const steps = [{ kind: 'task', name: 'a', task: 'resize', payload: { value: null, holes: {} } }] as const
  await store.startWorkflow({ plan: { name: 'nightly import', steps }, tasks: { resize: { lane } }, input: null })
}
await cluster.execute(sql`INSERT INTO q.recovery (run_id, fence, cause, was, became, code, replica_id, recovered_by)
  SELECT run_id, fence + n, cause, was, became, code, replica_id, recovered_by FROM q.recovery, generate_series(1, 2) n`)
await cluster.execute(sql`INSERT INTO q.destination (name, kind) VALUES ('my hook', 'webhook'), ('other', 'webhook')`)
await cluster.execute(sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at)
  SELECT name, 'status', 'run/1/' || n, '{}', NULL FROM q.destination, generate_series(1, 3) n`)

/** A list with options that choose its items; every option has to be in the command of the next page. */
const lists: readonly (readonly string[])[] = [
  ['runs', '--status', 'succeeded,failed,available,pending', '--wide'],
  ['runs', '--view', 'waiting', '--task', 'resize'],
  ['errors', '--task', 'resize', '--muted'],
  ['operations'],
  ['actions'],
  ['workflows', '--status', 'running', '--name', 'nightly import'],
  ['recoveries', '--node', 'eu-3', '--to-review'],
  ['review', '--node', 'eu-3'],
  ['deliveries', '--given-up', '--destination', 'my hook'],
]

test.each(lists.map((list) => [list.join(' '), list] as const))('q %s, a page of one at a time', async (_, list) => {
  const whole = idsOf((await qJson([...list, '--limit', '500'], env)).json)
  expect(whole.length).toBeGreaterThan(1)
  const pages: string[] = []
  const lines: (readonly string[])[] = []
  let line: readonly string[] | undefined = [...list, '--limit', '1']
  while (line !== undefined && lines.length < 50) {
    lines.push(line)
    pages.push(...idsOf((await qJson(line, env)).json))
    line = nextOf((await q(line, env)).stderr)
  }
  for (const each of lines) expect(each).toEqual(expect.arrayContaining([...list, '--limit', '1']))
  expect(line).toBeUndefined()
  expect(pages).toEqual(whole)
})

test('a bounded look hides older runs from the first page alone, not from those that follow', async () => {
  const { stderr } = await q(['runs', '--look', '3'], env)
  expect(nextOf(stderr)).toEqual(['runs', '--look', '3', '--before', expect.any(String)])
})

test('a workflow with more steps than a page continues after the last step', async () => {
  const { json } = await qJson(['workflows', 'show', workflow], env)
  const steps = (json as { steps: readonly { runId: string }[] }).steps
  const after = await qJson(['workflows', 'show', workflow, '--after', steps[0]!.runId], env)
  expect(after).toMatchObject({ code: 0, json: { steps: steps.slice(1) } })
})

test('the view of failed runs says where the runs are that failed while they waited', async () => {
  await cluster.execute(
    sql`UPDATE q.task_run SET status = 'FAILED', finished_at = now(), result = '{"code":"UNROUTABLE","detail":"x"}' WHERE id = ${runs.ready}`,
  )
  const listed = async (...args: string[]) => idsOf((await qJson(['runs', ...args], env)).json)
  expect(await listed('--view', 'failed')).not.toContain(runs.ready)
  const { stderr } = await q(['runs', '--view', 'failed'], env)
  const [, line = ''] = /^Runs that failed while they waited, .*: q runs (.*)$/m.exec(stderr) ?? []
  expect(await listed(...line.split(' '))).toContain(runs.ready)
})

test('a count of runs is of the view, and says how far it looked', async () => {
  const counted = async (...args: string[]) => q(['runs', '--count', ...args], env)
  expect((await counted('--view', 'running')).stdout).toBe('1\n')
  expect(await counted('--look', '2')).toMatchObject({
    stdout: '2+\n',
    stderr: expect.stringMatching(/^There may be more; looked back to .*\. To read more: --look\n$/) as string,
  })
})

function idsOf(json: unknown): string[] {
  const { runs: some, items = some } = json as { runs?: readonly object[]; items?: readonly object[] }
  return (items ?? []).map((item) => String(Reflect.get(item, 'id') ?? Reflect.get(item, 'fingerprint')))
}

/** The arguments after "Next: q", as a shell reads them. */
function nextOf(stderr: string): string[] | undefined {
  const [, line] = /Next: q (.*)\n$/.exec(stderr) ?? []
  return line?.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", ''))
}
