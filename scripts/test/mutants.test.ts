import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { broken } from '../mutants/copy.ts'
import { faults } from '../mutants/faults.ts'
import { workspace } from '../workspace.ts'

test.each(faults)('the fault $name still has its place in the source, and the tests it names exist', async (fault) => {
  for (const edit of fault.edits) {
    const text = await readFile(join(workspace, edit.file), 'utf8')
    expect(broken(text, edit)).not.toBe(text)
  }
  for (const file of fault.caughtBy) {
    expect(file).toMatch(/\.test\.ts$/)
    expect((await stat(join(workspace, file))).isFile()).toBe(true)
  }
})

test('there are at least ten faults, each with a name of its own', () => {
  expect(faults.length).toBeGreaterThanOrEqual(10)
  expect(new Set(faults.map((fault) => fault.name)).size).toBe(faults.length)
})
