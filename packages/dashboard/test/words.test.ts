import { expect, test } from 'vitest'
import { cliDuration, duration, relative, roughly } from '../src/words/durations.ts'
import { boundedLabel, countLabel, megabytes, rate } from '../src/words/numbers.ts'
import { visibleText } from '../src/words/visible-text.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test.each([
  [0, '0 ms'],
  [340, '340 ms'],
  [999.6, '1.0 s'],
  [1_200, '1.2 s'],
  [9_960, '10 s'],
  [59_600, '1 min'],
  [252_000, '4 min 12 s'],
  [3_599_700, '1 h'],
  [7_500_000, '2 h 05 min'],
  [187_200_000, '2 d 4 h'],
  [-5, '0 ms'],
])('a duration of %d ms reads as %s', (ms, words) => {
  expect(plain(duration(ms))).toBe(words)
})

test('an age has one unit and never rounds up', () => {
  expect([59_900, 119_000, 7_199_000].map((ms) => plain(roughly(ms)))).toEqual(['59 s', '1 min', '1 h'])
  expect([0, 5_000, -40_000].map((ms) => plain(relative(ms)))).toEqual(['now', '5 s ago', 'in 40 s'])
})

test('a deadline is written as the command line reads it', () => {
  expect([90_000, 120_000, 3_600_000].map(cliDuration)).toEqual(['90s', '2m', '1h'])
})

test('a count that stopped at its bound has a plus', () => {
  expect(plain(boundedLabel({ count: 10_000, atLeast: true }))).toBe('10 000+')
  expect(plain(countLabel(1_234_567))).toBe('1 234 567')
})

test('a rate that is not zero is never shown as zero', () => {
  expect([0, 0.01, 9.24, 120.4, null].map(rate)).toEqual(['0.0', '<0.1', '9.2', '120', '–'])
  expect(plain(megabytes(1_430))).toBe('1.4 GB')
})

test('control characters and direction marks of users become visible', () => {
  expect(visibleText('\u001b[31mred\u0000\u202etxt\ttab\nline')).toBe('^[[31mred^@\\u202etxt\ttab\nline')
})
