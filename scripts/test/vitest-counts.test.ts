import { expect, test } from 'vitest'
import { line } from '../test-steps/counts.ts'
import { slowestTests } from '../test-steps/slowest-tests.ts'
import { countsOf } from '../test-steps/vitest.ts'

const clean = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
const oneTest = { fullName: 'a test', duration: 5 }

test.each([
  [
    'every test counts',
    { ...clean, numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 },
    1,
    '7 passed, 2 failed, 2 skipped',
  ],
  ['a clean run has nothing failed', clean, 0, '7 passed, 0 failed'],
  ['a Vitest that died without a report is a failure', undefined, null, '0 passed, 1 failed'],
  ['an error outside of the tests is a failure', clean, 1, '7 passed, 1 failed'],
  [
    'a file that cannot be loaded is a failure',
    {
      ...clean,
      testResults: [
        { name: 'a.test.ts', status: 'failed', assertionResults: [] },
        { name: 'b.test.ts', status: 'passed', assertionResults: [oneTest] },
      ],
    },
    1,
    '7 passed, 1 failed',
  ],
])('%s', (_, report, code, counted) => {
  expect(line(countsOf(report, code))).toBe(counted)
})

test('the ten slowest tests are named with their files, the slowest first', () => {
  const durations = [3_000, null, 12_340, ...Array.from({ length: 10 }, (_, index) => 100 + index)]
  const assertionResults = durations.map((duration, index) => ({ fullName: `test ${index}`, duration }))
  const files = [
    { name: '/clone/packages/a/test/a.test.ts', status: 'passed', assertionResults },
    { name: '/clone/packages/b/test/b.test.ts', status: 'passed', assertionResults: [{ ...oneTest, duration: 4_000 }] },
  ]
  const lines = slowestTests(files, '/clone').split('\n')
  expect(lines).toHaveLength(11)
  expect(lines.slice(0, 4)).toEqual([
    'the slowest tests:',
    '  12.3 s  packages/a/test/a.test.ts: test 2',
    '   4.0 s  packages/b/test/b.test.ts: a test',
    '   3.0 s  packages/a/test/a.test.ts: test 0',
  ])
})
