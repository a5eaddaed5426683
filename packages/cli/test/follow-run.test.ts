import { expect, test } from 'vitest'
import { progressLine } from '../src/frame/follow-run.ts'

const view = { status: 'RUNNING', progress: 0.5, note: `${'123 primes '.repeat(20)}\n\x1b[2Jbelow 4` } as const
const plain = { colour: false, ascii: false }
const shown = (columns: number) => progressLine('1234567', view, { ...plain, columns })

test.each([30, 40, 60, 80, 200])('in a terminal of %d columns the line of a run does not wrap', (columns) => {
  expect(shown(columns).length).toBeLessThan(columns)
  expect(shown(columns)).toContain('run 1234567 RUNNING')
  expect(shown(columns)).toContain('50 %')
})

test('the progress note of a run is one line without control characters', () => {
  const line = progressLine('1', view, { ...plain, columns: 0 })
  expect(line).toContain('primes  [2Jbelow 4')
  expect(line).not.toMatch(/\n|\[2J.*\[2J/)
})

test('the bar of a run has colours and block characters only where the terminal has them', () => {
  const line = (look: object) => progressLine('1', { ...view, note: null }, { ...plain, columns: 30, ...look })
  expect(line({})).toMatch(/^run 1 RUNNING █+░+ 50 %/)
  expect(line({ ascii: true })).toMatch(/^run 1 RUNNING #+\.+ 50 %/)
  expect(line({ colour: true })).toContain('\u001B[32m')
})
