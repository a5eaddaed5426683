/** How many types the compiler instantiates for some files: an exact count, on any machine. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { runCommand } from '../test-steps/run-command.ts'
import { workspace } from '../workspace.ts'

/** `files`: their texts by name; they may import what examples may. */
export async function instantiations(files: Readonly<Record<string, string>>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'q-types-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(workspace, 'packages/examples/node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
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
