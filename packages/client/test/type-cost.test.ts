/** What a large workflow costs the type checker, counted in instantiations: a number that does not depend on the machine. */
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const workspace = fileURLToPath(new URL('../../../', import.meta.url))
const folder = fileURLToPath(new URL('../dist/type-cost/', import.meta.url))
afterAll(() => rm(folder, { recursive: true, force: true }))

const tasks = Array.from({ length: 200 }, (_, n) => {
  const payload = `{ n: number; text?: string; list: { id: string; tags: string[] }[] }`
  return `export const task${n} = task(({ n, list }: ${payload}) => ({ n, list, nested: { a: { b: { c${n}: '' } } } }))`
})

function steps(count: number): string {
  const step = (n: number) =>
    n === 0
      ? `const s0 = step('task0', { n: input.n, list: [] })`
      : `const s${n} = step('task${n}', { n: s${n - 1}.n, text: s${n - 1}.nested.a.b.c${n - 1}, list: s${n - 1}.list }, { name: 's${n}', timeout: '5m' })`
  return Array.from({ length: count }, (_, n) => step(n)).join('\n  ')
}

async function instantiations(count: number): Promise<number> {
  await mkdir(folder, { recursive: true })
  const options = {
    noEmit: true,
    composite: false,
    incremental: false,
    isolatedDeclarations: false,
    rootDir: '../../../..',
  }
  const config = { extends: '../../../../tsconfig.base.json', compilerOptions: options, files: ['flow.ts'] }
  const flow = `import { workflow, type Ref } from '@q/client'
import type * as tasks from './tasks.ts'
export const flow = workflow<typeof tasks>()('flow', ({ step }, input: Ref<{ n: number }>) => {
  ${steps(count)}
  return s${count - 1}.n
})`
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'tasks.ts'), `import { task } from '@q/client'\n${tasks.join('\n')}`)
  await writeFile(join(folder, 'flow.ts'), flow)
  const compiler = join(workspace, 'node_modules/.bin/tsc')
  const { stdout } = await promisify(execFile)(compiler, ['-p', folder, '--extendedDiagnostics'])
  return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
}

test('a step more costs the type checker little, however many tasks there are', async () => {
  const one = await instantiations(1)
  const fifty = await instantiations(50)
  expect((fifty - one) / 49).toBeLessThan(1_000)
  expect(one).toBeGreaterThan(0)
})
