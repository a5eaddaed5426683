/** The TypeScript files of the workspace, read once, as the rules look at them. */
import { glob, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bareCode, importsOf, type Import } from './imports.ts'

export interface SourceFile {
  /** Relative to the workspace, with slashes. */
  readonly path: string
  readonly lines: number
  /** Without comments and the contents of strings; every character keeps its place. */
  readonly code: string
  readonly imports: readonly Import[]
}

export interface SourceTree {
  readonly files: ReadonlyMap<string, SourceFile>
  /** The text of each packages/x/package.json. */
  readonly manifests: ReadonlyMap<string, string>
  /** The source file that a name like `@q/store` stands for. */
  readonly entries: ReadonlyMap<string, string>
}

export async function readTree(root: string): Promise<SourceTree> {
  const files = new Map<string, SourceFile>()
  const manifests = new Map<string, string>()
  const patterns = ['packages/**/*.{ts,tsx,mts}', 'scripts/**/*.{ts,mts}', '*.ts', 'packages/*/package.json']
  for await (const path of glob(patterns, { cwd: root, exclude: isSkipped })) {
    const text = await readFile(join(root, path), 'utf8')
    if (path.endsWith('.json')) manifests.set(path, text)
    else files.set(path, { path, lines: linesOf(text), code: bareCode(text), imports: importsOf(text) })
  }
  return { files, manifests, entries: new Map([...manifests].flatMap(([path, text]) => entriesOf(path, text))) }
}

function isSkipped(path: string): boolean {
  return ['node_modules', 'dist', '.q'].includes(basename(path))
}

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function entriesOf(path: string, manifest: string): [name: string, file: string][] {
  const { name, exports = {} } = JSON.parse(manifest) as {
    name: string
    exports?: Record<string, { '@q/source'?: string }>
  }
  const folder = path.slice(0, -'package.json'.length)
  return Object.entries(exports).flatMap(([entry, target]) => {
    const source = target['@q/source']
    return source === undefined ? [] : [[name + entry.slice(1), folder + source.replace('./', '')]]
  })
}
