import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'

const { store } = await fixture()
const reference = readFileSync(join(import.meta.dirname, '../../../docs/reference/store.md'), 'utf8')

test('the reference has every verb of the store', () => {
  const headings = [...reference.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(Object.keys(store).filter((verb) => !headings.includes(verb))).toEqual([])
})
