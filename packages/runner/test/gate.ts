/** A gate between a test and the code of a run: the payload names its file, the code waits until the test opens it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Gate {
  readonly file: string
  open(): void
}

export function gate(): Gate {
  const folder = mkdtempSync(join(tmpdir(), 'q-gate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'open')
  return { file, open: () => writeFileSync(file, '') }
}
