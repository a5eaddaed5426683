import { array, assert, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import type { StepView } from '../src/api/run-contract.ts'
import { criticalPath } from '../src/pages/workflows/critical-path.ts'
import { boxSize, layoutOf } from '../src/pages/workflows/layout.ts'

function step(
  name: string,
  parents: string[],
  [from, to]: [from: number | null, to: number | null],
  more: Partial<StepView> = {},
): StepView {
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

test('steps that start together keep the order in which the workflow declares them', () => {
  const names = ['480p', '720p', '1080p', 'thumbnails']
  const { boxes } = layoutOf(
    [...names.map((name) => step(name, [], [0, 1])), step('publish', names.toReversed(), [1, 2])],
    false,
  )
  const yOf = (name: string) => boxes.find((box) => box.name === name)?.y ?? Number.NaN
  expect(names.toSorted((a, b) => yOf(a) - yOf(b))).toEqual(names)
  expect(yOf('publish')).toBeCloseTo((yOf('480p') + yOf('thumbnails')) / 2, 0)
})

test('no two edges cross where a drawing without crossings is at hand', () => {
  const { edges } = layoutOf(
    [step('a', [], [0, 1]), step('b', [], [0, 1]), step('c', ['b'], [1, 2]), step('d', ['a'], [1, 2])],
    false,
  )
  const ends = edges.map(({ path }) => {
    const numbers = path.match(/-?[\d.]+/g)?.map(Number) ?? []
    return { from: numbers[1] ?? 0, to: numbers.at(-1) ?? 0 }
  })
  const [one, other] = ends
  expect(((one?.from ?? 0) - (other?.from ?? 0)) * ((one?.to ?? 0) - (other?.to ?? 0))).toBeGreaterThan(0)
})

const graphs = array(array(nat(40), { maxLength: 4, size: 'max' }), { minLength: 1, maxLength: 40, size: 'max' }).map(
  (all) =>
    all.map((picks, index) =>
      step(`s${index}`, index === 0 ? [] : [...new Set(picks.map((pick) => `s${pick % index}`))], [null, null]),
    ),
)

test.each([false, true])('in any graph no boxes overlap and no edge runs through a box (narrow: %s)', (isNarrow) => {
  assert(
    property(graphs, (any) => {
      const { boxes, edges, width, height } = layoutOf(any, isNarrow)
      const covers = (box: { x: number; y: number }, [x, y]: readonly [number, number], room: number) =>
        x > box.x - room && x < box.x + boxSize.width + room && y > box.y - room && y < box.y + boxSize.height + room
      const faults = boxes.flatMap((box) => {
        const corners = [0, 1].map((k) => [box.x + k * boxSize.width, box.y + k * boxSize.height] as const)
        const isOutside = box.x < 0 || box.y < 0 || box.x + boxSize.width > width || box.y + boxSize.height > height
        const others = boxes.filter((other) => other !== box && corners.some((corner) => covers(other, corner, 10)))
        return [
          ...(isOutside ? [`${box.name} is outside`] : []),
          ...others.map(({ name }) => `${box.name} is on ${name}`),
        ]
      })
      // The straight parts of an edge are beside the boxes of the layers that it passes.
      for (const { from, to, path } of edges)
        for (const [, ax, ay, bx, by] of path.matchAll(/([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)/g)) {
          const middle = [(Number(ax) + Number(bx)) / 2, (Number(ay) + Number(by)) / 2] as const
          if (boxes.some((box) => covers(box, middle, 1))) faults.push(`${from} to ${to} runs through a box`)
        }
      expect(faults).toEqual([])
    }),
  )
})
