import { expect, test } from 'vitest'
import type { Measurement } from '../src/measurements/measurement.ts'
import { noOp } from '../src/measurements/drains.ts'
import { measurements } from '../src/measurements/list.ts'
import { rotation } from '../src/run/rotation.ts'

const labelsOf = (measurement: Measurement) => measurement.entrants.map(({ label }) => label).toSorted()

test('every round takes one sample of each entrant, and each begins with another entrant', () => {
  const turns = rotation([noOp], 3)
  const rounds = [1, 2, 3].map((round) =>
    turns.filter((turn) => turn.round === round).map((turn) => turn.entrant.label),
  )
  expect(rounds.map((labels) => labels.toSorted())).toEqual(Array(3).fill(labelsOf(noOp)))
  expect(new Set(rounds.map(([first]) => first)).size).toBe(3)
})

test('a measurement whose answer does not vary is taken in the first round only', () => {
  const turns = rotation([{ ...noOp, once: true }], 5)
  expect(new Set(turns.map(({ round }) => round))).toEqual(new Set([1]))
})

test('each measurement has a name of its own, by which a resumed run knows its samples', () => {
  const names = measurements.map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
