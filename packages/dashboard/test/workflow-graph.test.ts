import { expect, test } from 'vitest'
import type { Step } from '../src/api/run-contract.ts'
import { criticalPath } from '../src/pages/workflows/critical-path.ts'
import { layoutOf } from '../src/pages/workflows/layout.ts'

function step(
  name: string,
  parents: string[],
  [from, to]: [from: number | null, to: number | null],
  more: Partial<Step> = {},
): Step {
  const at = (s: number | null) => (s === null ? null : new Date(s * 1_000).toISOString())
  const status = to === null ? (from === null ? 'PENDING' : 'RUNNING') : 'SUCCEEDED'
  return {
    runId: '1',
    name,
    kind: 'task',
    task: 't',
    status,
    waitingFor: null,
    waitingOn: 0,
    attempt: 1,
    code: null,
    parents,
    subWorkflowId: null,
    startedAt: at(from),
    finishedAt: at(to),
    ...more,
  }
}

const steps = [
  step('fetch', [], [0, 10]),
  step('scan', ['fetch'], [10, 12]),
  step('encode', ['fetch'], [10, 60], { kind: 'map' }),
  step('encode[0]', [], [10, 60], { kind: 'item' }),
  step('encode[1]', [], [10, null], { kind: 'item' }),
  step('publish', ['scan', 'encode'], [60, null]),
  step('notify', ['publish'], [null, null]),
]

test('the critical path goes back over the parent that ended last', () => {
  expect([...criticalPath(steps, 90_000)]).toEqual(['publish', 'encode', 'fetch'])
})

test('parents are drawn before their children, and items of a map are counted in its box', () => {
  const { boxes, edges } = layoutOf(steps, false)
  const xOf = (name: string) => boxes.find((box) => box.name === name)?.x ?? Number.NaN
  expect(edges.every(({ from, to }) => xOf(from) < xOf(to))).toBe(true)
  expect(boxes.map(({ name }) => name)).not.toContain('encode[0]')
  expect(boxes.find(({ name }) => name === 'encode')?.items).toEqual({ SUCCEEDED: 1, RUNNING: 1 })
})
