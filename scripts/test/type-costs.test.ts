/**
 * What tasks cost the compiler, in instantiations of types. A module of tasks, half of them with a schema, and a producer
 * that enqueues each of them.
 */
import { expect, test } from 'vitest'
import { instantiations } from './instantiations.ts'

const perTaskMax = 600

test('200 tasks cost as much each as 100, and not much', { timeout: 300_000 }, async () => {
  const [few, some, many] = [await costOf(20), await costOf(100), await costOf(200)] as const
  const each = { some: (some - few) / 80, many: (many - some) / 100 }
  expect(each.many).toBeLessThan(perTaskMax)
  expect(each.many).toBeLessThan(each.some * 1.05)
})

function costOf(tasks: number): Promise<number> {
  const places = Array.from({ length: tasks }, (_, place) => place)
  return instantiations({
    'tasks.ts': [imports.tasks, ...places.map(definition)].join('\n'),
    'app.ts': [imports.app, ...places.map(use)].join('\n'),
  })
}

const imports = {
  tasks: "import { task } from '@q/client'\nimport { z } from 'zod'",
  app: `import { queue } from '@q/client'
import type * as tasks from './tasks.ts'
const q = queue<typeof tasks>('')`,
}

const definition = (place: number) =>
  place % 2 === 0
    ? `export const t${place} = task({ unique: '/user/id', timeout: '10m' },
  ({ user }: { user: { id: number; name?: string }; n${place}: string }, ctx) => { ctx.heartbeat(); return { user } })`
    : `export const t${place} = task(
  { input: z.object({ url: z.url(), width: z.number().default(800), n${place}: z.string() }), concurrency: { key: '/url' } },
  async ({ width }) => ({ width }))`

const use = (place: number) =>
  place % 2 === 0
    ? `export const r${place} = (await (await q.enqueue('t${place}', { user: { id: 1 }, n${place}: '' }, { delay: '5m' })).result()).user.id`
    : `export const r${place} = (await (await q.enqueue('t${place}', { url: '', n${place}: '' })).result()).width`
