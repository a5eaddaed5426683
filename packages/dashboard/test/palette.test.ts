import { expect, test } from 'vitest'
import type { Node } from '../src/api/contract.ts'
import { paletteEntries } from '../src/app/palette-entries.ts'

test('the palette lists live nodes first, in the order of their names, and calls a stale node lost as the pages do', () => {
  const node = (id: string, name: string, state: Node['state']) => ({ id, name, state, startedAt: '' }) as Node
  const nodes = [
    node('aaaa1111', 'eu-10', 'alive'),
    node('bbbb2222', 'eu-1', 'stopped'),
    node('cccc3333', 'eu-2', 'stale'),
    node('dddd4444', 'eu-9', 'draining'),
  ]
  const found = paletteEntries('eu-', { nodes, queues: [], tasks: [] }).map(({ name }) => name)
  expect(found).toEqual(['eu-9 dddd, draining', 'eu-10 aaaa', 'eu-1 bbbb, stopped', 'eu-2 cccc, lost'])
})
