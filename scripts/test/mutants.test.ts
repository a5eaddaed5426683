import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { broken } from '../mutants/copy.ts'
import { faults } from '../mutants/faults.ts'
import { workspace } from '../workspace.ts'

test.each(faults)('the fault $name still has its place in the source', async ({ edits }) => {
  for (const edit of edits) {
    const text = await readFile(join(workspace, edit.file), 'utf8')
    expect(broken(text, edit)).not.toBe(text)
  }
})

test('there are at least ten faults, each with a name of its own', () => {
  expect(faults.length).toBeGreaterThanOrEqual(10)
  expect(new Set(faults.map((fault) => fault.name)).size).toBe(faults.length)
})
