import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { task } from '@q/task'

const reference = readFileSync(new URL('../../../docs/reference/tasks.md', import.meta.url), 'utf8')
const [, options = ''] = reference.split(/^## /m)

test('every option is in the reference, and no other', () => {
  const known = (): string => {
    try {
      task({ nonsense: 1 } as never, () => 1)
      return ''
    } catch (error) {
      return /the options are ([^.;]*)/.exec(String(error))?.[1] ?? ''
    }
  }
  const rows = [...options.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => String(name))
  expect(new Set(rows)).toEqual(new Set(known().split(', ')))
})
