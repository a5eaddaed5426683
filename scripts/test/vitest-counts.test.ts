import { expect, test } from 'vitest'
import { line } from '../test-steps/counts.ts'
import { countsOf } from '../test-steps/vitest.ts'

const clean = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
const report = (changes: object) => JSON.stringify({ ...clean, ...changes })

test.each([
  [
    'every test counts',
    report({ numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 }),
    1,
    '7 passed, 2 failed, 2 skipped',
  ],
  ['a clean run has nothing failed', report({}), 0, '7 passed, 0 failed'],
  ['a Vitest that died without a report is a failure', undefined, null, '0 passed, 1 failed'],
  ['an error outside of the tests is a failure', report({}), 1, '7 passed, 1 failed'],
  [
    'a file that cannot be loaded is a failure',
    report({
      testResults: [
        { status: 'failed', assertionResults: [] },
        { status: 'passed', assertionResults: [{}] },
      ],
    }),
    1,
    '7 passed, 1 failed',
  ],
])('%s', (_, text, code, counted) => {
  expect(line(countsOf(text, code))).toBe(counted)
})
