/**
 * The cost of tasks for the compiler, in instantiations of types. A module of tasks, half of them with a schema, and a producer
 * that enqueues each of them.
 */
import { expect, test } from 'vitest'
import { instantiations } from './instantiations.ts'

const perTaskMax = 600

test('the type cost per task is bounded and the same for 50 and 100 tasks', { timeout: 300_000 }, async () => {
  const [few, some, many] = [await costOf(10), await costOf(50), await costOf(100)] as const
  const each = { some: (some - few) / 40, many: (many - some) / 50 }
  expect(each.many).toBeLessThan(perTaskMax)
  expect(each.many).toBeLessThan(each.some * 1.05)
})

function costOf(tasks: number): Promise<number> {
  const indexes = Array.from({ length: tasks }, (_, index) => index)
  return instantiations({
    'tasks.ts': [imports.tasks, ...indexes.map(definition)].join('\n'),
    'app.ts': [imports.app, ...indexes.map(use)].join('\n'),
  })
}

const imports = {
  tasks: "import { task } from '@q/client'\nimport { z } from 'zod'",
  app: `import { queue } from '@q/client'
import type * as tasks from './tasks.ts'
const q = queue<typeof tasks>('')`,
}

const definition = (index: number) =>
  index % 2 === 0
    ? `export const t${index} = task({ unique: '/user/id', timeout: '10m' },
  ({ user }: { user: { id: number; name?: string }; n${index}: string }, ctx) => { ctx.heartbeat(); return { user } })`
    : `export const t${index} = task(
  { input: z.object({ url: z.url(), width: z.number().default(800), n${index}: z.string() }), concurrency: { key: '/url' } },
  async ({ width }) => ({ width }))`

const use = (index: number) =>
  index % 2 === 0
    ? `export const r${index} = (await (await q.enqueue('t${index}', { user: { id: 1 }, n${index}: '' }, { delay: '5m' })).result()).user.id`
    : `export const r${index} = (await (await q.enqueue('t${index}', { url: '', n${index}: '' })).result()).width`
