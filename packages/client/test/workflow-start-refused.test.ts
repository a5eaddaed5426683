/** Invalid workflows: nothing is written, and the error names the problem. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { queue, workflow, type Ref, type Workflow } from '@q/client'
import { fixture } from './fixture.ts'
import * as tasks from './workflow-tasks.ts'

const { url, connection } = await fixture()

const q = queue(url, { tasks })

afterAll(() => q.close())

async function workflowsStarted(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM q.workflow`.execute(connection.db)
  return rows[0]!.count
}

const define = workflow<typeof tasks>()

const single = define(
  'single',
  ({ step }, input: Ref<{ name: string }>) => step('test', { binary: input.name }).coverage,
)

const wrongPlan = (after: Record<string, string[]>): Workflow => {
  const payload = { value: {}, holes: {} }
  const steps = Object.entries(after).map(([name, parents]) => {
    return { kind: 'task', name, task: 'test', payload, after: parents } as const
  })
  return { name: 'wrong', plan: { name: 'wrong', steps } }
}

test.each([
  [
    'a cycle',
    () => q.start(wrongPlan({ a: ['b'], b: ['c'], c: ['a'] }) as Workflow<object>, {}),
    /wait for each other: (\w → ){3}\w/,
  ],
  [
    'a step that waits for itself',
    () => q.start(wrongPlan({ a: ['a'] }) as Workflow<object>, {}),
    /"a" waits for itself/,
  ],
  [
    'an unknown parent',
    () => q.start(wrongPlan({ a: ['x'] }) as Workflow<object>, {}),
    /"x", and there is no such step/,
  ],
  ['an input that is not JSON', () => q.start(single, { name: 1n as never }), /its input: .*\/name/],
])('%s is refused before anything is written', async (_, start, why) => {
  const before = await workflowsStarted()
  await expect(start()).rejects.toMatchObject({ code: 'WORKFLOW_INVALID', why: expect.stringMatching(why) as string })
  expect(await workflowsStarted()).toBe(before)
})

test('a payload without references is checked before anything is written, and the error names the step', async () => {
  const compiled = define('compiled', ({ step }, input: Ref<{ file: string }>) => {
    step('compile', { file: input.file }, { name: 'first' })
  })
  const before = await workflowsStarted()
  await expect(q.start(compiled, { file: 5 as never })).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    why: expect.stringMatching(/^step "first": \/file: /) as string,
  })
  expect(await workflowsStarted()).toBe(before)
})
