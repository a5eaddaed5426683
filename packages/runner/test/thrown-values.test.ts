import { expect, test } from 'vitest'
import { reportThrow } from '../src/thread/plain-data.ts'

test.each([
  ['text', 'just text', 'just text'],
  ['an object', { code: 'E_ODD', reason: 'odd' }, "{ code: 'E_ODD', reason: 'odd' }"],
  ['nothing', undefined, 'undefined'],
])('%s that code throws instead of an Error is shown in the outcome', (_, thrown, shown) => {
  expect(reportThrow(thrown)).toMatchObject({ code: 'TASK_ERROR', detail: expect.stringContaining(shown) })
})

test('an object whose members cannot be read still ends its run', () => {
  const strange = Object.defineProperty({}, 'toString', {
    get() {
      throw new Error('unreadable')
    },
  })
  expect(reportThrow(strange)).toMatchObject({ code: 'TASK_ERROR' })
})

test('causes whose texts resemble a secret do not hide the error', () => {
  const error = new AggregateError(["it's"], 'all failed', { cause: "token: 'x" })
  expect(reportThrow(error)).toMatchObject({
    detail: expect.stringContaining('all failed'),
    cause: { message: "token: 'x" },
    errors: [{ message: "it's" }],
  })
})
