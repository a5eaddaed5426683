/**
 * What tasks cost the compiler, in instantiations of types: exact counts, on any machine. A module of tasks, half of them
 * with a schema, and a producer that enqueues each of them.
 */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../test-steps/run-command.ts'
import { workspace } from '../workspace.ts'

const perTaskMax = 600

test('200 tasks cost as much each as 100, and not much', { timeout: 300_000 }, async () => {
  const [few, some, many] = [await instantiations(20), await instantiations(100), await instantiations(200)] as const
  const each = { some: (some - few) / 80, many: (many - some) / 100 }
  expect(each.many).toBeLessThan(perTaskMax)
  expect(each.many).toBeLessThan(each.some * 1.05)
})

async function instantiations(tasks: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'q-types-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(workspace, 'packages/examples/node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const places = Array.from({ length: tasks }, (_, place) => place)
  await writeFile(join(folder, 'tasks.ts'), [imports.tasks, ...places.map(definition)].join('\n'))
  await writeFile(join(folder, 'app.ts'), [imports.app, ...places.map(use)].join('\n'))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const argv = ['tsc', '-p', folder, '--extendedDiagnostics', '--singleThreaded']
  const { output } = await runCommand({ argv })
  expect(output).not.toContain('error TS')
  return Number(/^Instantiations:\s+(\d+)/m.exec(output)?.[1])
}

const config = {
  extends: join(workspace, 'tsconfig.base.json'),
  compilerOptions: {
    noEmit: true,
    composite: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    typeRoots: [join(workspace, 'node_modules/@types')],
  },
  include: ['*.ts'],
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
