/** Completions of an editor, as the TypeScript server answers them. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { completionsAt } from './editor.ts'

/** Edits the file in the editor's memory only; the file on disk is unchanged. */
const path = join(workspace, 'packages/examples/src/first-task/app.ts')
const opening = `import { queue } from '@q/client'
import type * as tasks from './tasks.ts'
const q = queue<typeof tasks>('')
`

test('an editor offers the names of the tasks', { timeout: 180_000 }, async () => {
  expect((await completionsAt(path, `${opening}await q.enqueue('|')`)).toSorted()).toEqual(['hello', 'resize'])
})

test('and the members of the payload, and of the result', { timeout: 180_000 }, async () => {
  expect(await completionsAt(path, `${opening}await q.enqueue('resize', { | })`)).toEqual(
    expect.arrayContaining(['url', 'width?']),
  )
  const result = `${opening}const { | } = await (await q.enqueue('resize', { url: '' })).result()`
  expect(await completionsAt(path, result)).toEqual(expect.arrayContaining(['bytes']))
})

test('and the places of the payload that a key can point to', { timeout: 180_000 }, async () => {
  const text = `import { task } from '@q/client'
task({ concurrency: { key: '|' } }, (_: { url: string; user?: { id: number } }) => 1)`
  expect((await completionsAt(path, text)).toSorted()).toEqual(['/url', '/user', '/user/id'])
})
