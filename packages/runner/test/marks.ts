/** The file in which tasks/marking.ts leaves its marks. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Mark {
  readonly what: 'began' | 'stopped' | 'effect'
  readonly name: string
  readonly pid: number
  readonly atMs: number
  readonly attempt: number
}

export interface Marks {
  readonly file: string
  all(name?: string): Mark[]
  count(what: Mark['what'], name: string): number
}

export function marksFile(): Marks {
  const folder = mkdtempSync(join(tmpdir(), 'q-marks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'marks')
  const all = (name?: string): Mark[] => {
    if (!existsSync(file)) return []
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Mark).filter((mark) => name === undefined || mark.name === name)
  }
  return { file, all, count: (what, name) => all(name).filter((mark) => mark.what === what).length }
}
