import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { RunnerEvent } from '@q/runner'
import { logObserver } from '../src/observers/log.ts'
import { scrub } from '../src/scrub.ts'

/** A log whose lines are kept, and a clock that is set by hand. */
function reader(level: string) {
  const lines: Record<string, unknown>[] = []
  const clock = { nowMs: 0 }
  const log = pino({ level, base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, clock, observe: logObserver(log, () => clock.nowMs) }
}

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const failed = (loop: string, error: unknown): RunnerEvent => ({ type: 'loop-failed', loop, error, retryInMs: 100 })

test('a database that is away for a minute is told in a few lines, whoever asks it, with how many there were', () => {
  const { lines, clock, observe } = reader('info')
  for (clock.nowMs = 0; clock.nowMs < 60_000; clock.nowMs += 1_000) {
    for (const loop of ['claim', 'promote', 'reap', 'session', 'prune']) observe(failed(loop, refused))
    observe({ type: 'beat-failed', consecutive: 1, error: refused, retryInMs: 1 })
  }
  expect(lines).toHaveLength(8)
  expect(lines.map(({ alike = 0 }) => alike)).toEqual([0, 0, 74, 14, 74, 14, 74, 14])
})

test('what else goes wrong meanwhile is told, for each who meets it', () => {
  const { lines, observe } = reader('info')
  const missing = Object.assign(new Error('relation does not exist'), { code: '42P01' })
  for (let round = 0; round < 3; round++) {
    for (const error of [refused, missing, new TypeError('x is undefined')]) {
      for (const loop of ['claim', 'prune']) observe(failed(loop, error))
    }
  }
  expect(lines).toHaveLength(1 + 2 + 2)
})

test('nothing is held back at level debug, nor events that are no repeated failures', () => {
  const { lines, observe } = reader('debug')
  for (let round = 0; round < 3; round++) observe(failed('claim', refused))
  for (let round = 0; round < 3; round++) observe({ type: 'run-unfinished', error: refused })
  expect(lines).toHaveLength(6)
})

test('a line is written in a moment, however long the words are that code has put into it', () => {
  const word = 'a'.repeat(100_000)
  const begunMs = performance.now()
  expect(scrub(`${word} ${word}://u:hunter2@host`)).toBe(`${word} ${word}://u:***@host`)
  expect(performance.now() - begunMs).toBeLessThan(1_000)
})
