/** The cost of workflows for the compiler, in instantiations of types: a chain of steps over 200 tasks, each given parts of the one before. */
import { expect, test } from 'vitest'
import { instantiations } from './instantiations.ts'

const perStepMax = 450

test(
  'a workflow of 50 steps over 200 tasks costs as much per step as one of 25, within a bound',
  { timeout: 300_000 },
  async () => {
    const [few, some, many] = [await costOf(2), await costOf(25), await costOf(50)] as const
    const each = { some: (some - few) / 23, many: (many - some) / 25 }
    expect(each.many).toBeLessThan(perStepMax)
    expect(each.many).toBeLessThan(each.some * 1.05)
  },
)

function costOf(steps: number): Promise<number> {
  return instantiations({
    'tasks.ts': ["import { task } from '@q/client'", ...indexes(200).map(definition)].join('\n'),
    'flow.ts': `import { workflow, type Ref } from '@q/client'
import type * as tasks from './tasks.ts'
export const flow = workflow<typeof tasks>()('flow', ({ step }, input: Ref<{ n: number }>) => {
  const s0 = step('t0', { n: input.n, list: [] })
  ${indexes(steps).slice(1).map(use).join('\n  ')}
  return s${steps - 1}.n
})`,
  })
}

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)

const definition = (index: number) =>
  `export const t${index} = task(({ n, list }: { n: number; text?: string; list: { id: string; tags: string[] }[] }) =>
  ({ n, list, nested: { a: { b: { c${index}: '' } } } }))`

const use = (index: number) => {
  const before = `s${index - 1}`
  const payload = `{ n: ${before}.n, text: ${before}.nested.a.b.c${index - 1}, list: ${before}.list }`
  return `const s${index} = step('t${index}', ${payload}, { name: 's${index}', timeout: '5m' })`
}
