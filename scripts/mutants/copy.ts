/**
 * A copy of the workspace in which something may be broken. Dependencies are links to the real ones; packages of the
 * workspace link to each other within the copy, or the fault would not be seen.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { workspace } from '../workspace.ts'
import type { Fault } from './fault.ts'

const leftOut = new Set(['node_modules', 'dist', 'packed', '.q', '.git'])

export interface Copy extends AsyncDisposable {
  readonly folder: string
  /** Breaks the copy; the returned function restores it, even if the workspace has changed in the meantime. */
  plant(fault: Fault): Promise<() => Promise<void>>
}

export async function copyOfWorkspace(): Promise<Copy> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'q-mutants-'))
  const filter = (source: string) => !leftOut.has(source.split('/').at(-1) ?? '')
  // Links as they are: one that points to the migrations of the workspace would hide faults in those of the copy.
  await cp(workspace, folder, { recursive: true, filter, verbatimSymlinks: true })
  const packages = await readdir(join(workspace, 'packages'))
  for (const place of ['.', ...packages.map((name) => join('packages', name))]) await link(folder, place)
  return {
    folder,
    plant: (fault) => plant(folder, fault),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The text with the fault in it; throws if a place to change is not found exactly once. */
export function broken(text: string, { find, replace }: { find: string; replace: string }): string {
  const [before, after, ...more] = text.split(find)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`Expected exactly once: ${find}`)
  }
  return `${before}${replace}${after}`
}

async function plant(folder: string, fault: Fault): Promise<() => Promise<void>> {
  const sound = new Map<string, string>()
  for (const edit of fault.edits) {
    const path = join(folder, edit.file)
    const text = await readFile(path, 'utf8')
    if (!sound.has(path)) sound.set(path, text)
    await writeFile(path, broken(text, edit))
  }
  return async () => {
    for (const [path, text] of sound) await writeFile(path, text)
  }
}

async function link(folder: string, place: string): Promise<void> {
  const from = join(workspace, place, 'node_modules')
  for (const name of await readdir(from).catch(() => [])) {
    if (name.startsWith('.')) continue
    const names = name.startsWith('@') ? (await readdir(join(from, name))).map((inner) => join(name, inner)) : [name]
    for (const dependency of names) {
      const target = await realpath(join(from, dependency))
      const path = join(folder, place, 'node_modules', dependency)
      await mkdir(dirname(path), { recursive: true })
      await symlink(isOurs(target) ? join(folder, relative(workspace, target)) : target, path)
    }
  }
}

function isOurs(target: string): boolean {
  return dirname(target) === join(workspace, 'packages')
}
