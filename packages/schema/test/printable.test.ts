import { expect, test } from 'vitest'
import { oneLine, printable } from '@q/schema'

test('a sequence of control characters becomes one space; line breaks stay in text and not in one line', () => {
  const text = 'ä\u001b[2J\u0000\u007fb\t\r\nc\u009b31m'
  expect(printable(text)).toBe('ä [2J b \nc 31m')
  expect(oneLine(text)).toBe('ä [2J b c 31m')
})
