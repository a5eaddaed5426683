import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest ancestor that is a workspace or a clone; else the nearest package; else the current directory. */
export function workspaceRoot(from: string): string {
  return nearest(from, ['pnpm-workspace.yaml', '.git']) ?? nearest(from, ['package.json']) ?? from
}

function nearest(from: string, marks: readonly string[]): string | undefined {
  for (let dir = from; ; dir = dirname(dir)) {
    if (marks.some((mark) => existsSync(join(dir, mark)))) return dir
    if (dirname(dir) === dir) return undefined
  }
}
