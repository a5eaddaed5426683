import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { modelFaults } from '../spin/faults.ts'
import { models } from '../spin/search.ts'
import { searchAll } from '../spin/searches.ts'
import { missingTools } from '../spin/tools.ts'
import { outcomeOf } from '../spin/search-outcome.ts'
import { workspace } from '../workspace.ts'

const searchMsMax = 900_000
/** Every fault takes minutes of CPU; the suite plants one in each scene, `Q_SPIN=all` and `pnpm spin` plant all. */
const short = process.env['Q_SPIN'] !== 'all'

test('every model keeps its invariants, and a planted fault breaks one', { timeout: searchMsMax }, async (context) => {
  const missing = await missingTools()
  if (missing.length > 0) context.skip(missing.join('. '))
  const searched = await searchAll({ short: true })
  expect(searched.filter((one) => !one.asExpected)).toEqual([])
  expect(searched.filter(({ why }) => why !== undefined).length).toBeGreaterThan(1)
})

test.skipIf(short)(
  'every planted fault breaks an invariant, and every invariant is broken by a fault (Q_SPIN=all)',
  { timeout: searchMsMax },
  async (context) => {
    const missing = await missingTools()
    if (missing.length > 0) context.skip(missing.join('. '))
    const searched = await searchAll()
    expect(searched.filter((one) => !one.asExpected)).toEqual([])
    const broken = searched.flatMap(({ outcome }) => (outcome.kind === 'broken' ? outcome.law : []))
    expect(new Set(broken)).toEqual(new Set([...(await laws()), 'every run ends']))
  },
)

test('the table and the models name the same faults, once', async () => {
  const text = await readFile(join(models, 'faults.pml'), 'utf8')
  const built = [...text.matchAll(/^#define ([A-Z_]+) +(\d+)$/gm)].filter(([, name]) => name !== 'FAULT')
  expect(modelFaults.map((fault) => fault.name)).toEqual(built.map(([, name]) => name))
  expect(built.map(([, , number]) => Number(number))).toEqual(built.map((_, index) => index + 1))
})

test('docs/explanation/liveness-model.md names every law and every fault', async () => {
  const text = await readFile(join(workspace, 'docs/explanation/liveness-model.md'), 'utf8')
  for (const { name, why } of modelFaults) expect(text).toContain(`| \`${name}\` | ${why} |`)
  for (const law of await laws()) expect(text).toContain(law)
})

describe('a search proves something only if it has seen every state', () => {
  const end = (errors: number) =>
    `State-vector 104 byte, depth reached 165, errors: ${errors}\n  1547663 states, stored\n`

  test.each([
    ['found nothing', end(0), { kind: 'sound', states: 1_547_663, depth: 165 }],
    [
      'a law',
      `pan:1: assertion violated ((live==n)||a_law_of_ours) (at depth 9)\n${end(1)}`,
      { kind: 'broken', law: 'a law of ours' },
    ],
    ['a cycle', `pan:1: acceptance cycle (at depth 38)\n${end(1)}`, { kind: 'broken', law: 'the goal' }],
    [
      'a deadlock',
      `pan:1: invalid end state (at depth 18)\n${end(1)}`,
      { kind: 'broken', law: 'no process waits forever' },
    ],
    ['too deep', `error: max search depth too small\n${end(0)}`, { kind: 'incomplete' }],
    ['too large', `pan: reached -DMEMLIM bound\nWarning: Search not completed\n${end(0)}`, { kind: 'incomplete' }],
    [
      'too many processes',
      `pan: error: too many processes -- current max is 6 procs (-DNFAIR=2)\n`,
      { kind: 'incomplete' },
    ],
    ['silence', '', { kind: 'incomplete' }],
  ])('%s', (_, output, outcome) => {
    expect(outcomeOf(output, 'the goal')).toMatchObject(outcome)
  })
})

async function laws(): Promise<string[]> {
  const files = await Promise.all(
    ['row.pml', 'shared-streak.pml', 'ring.pml'].map((file) => readFile(join(models, file), 'utf8')),
  )
  const names = [...files.join('\n').matchAll(/^bit (\w+_\w+_\w+);$/gm)].map(([, name = '']) =>
    name.replaceAll('_', ' '),
  )
  expect(names.length).toBeGreaterThan(8)
  return names
}
