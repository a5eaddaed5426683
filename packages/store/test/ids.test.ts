import { expect, test } from 'vitest'
import { asRunId, asWorkflowId } from '@q/store'

test.each([
  ['1', true],
  ['9223372036854775807', true],
  ['9223372036854775808', false],
  ['0', false],
  ['01', false],
  ['-1', false],
  ['1.0', false],
  ['', false],
])('the ids of runs and of workflows are the positive bigints of the database: "%s"', (text, isOne) => {
  expect([asRunId(text), asWorkflowId(text)]).toEqual(isOne ? [text, text] : [undefined, undefined])
})
