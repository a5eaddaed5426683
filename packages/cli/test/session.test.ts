import { expect, onTestFinished, test, vi } from 'vitest'
import { print } from '../src/session.ts'

test.each([
  [true, 'Hello, [2J!'],
  [false, 'Hello,\u001b[2J!'],
])('a result is printed without control characters to a terminal alone: %s', (isTTY, shown) => {
  const before = process.stdout.isTTY
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => {
    process.stdout.isTTY = before
    log.mockRestore()
  })
  process.stdout.isTTY = isTTY
  print('Hello,\u001b[2J!')
  expect(log.mock.calls).toEqual([[shown]])
})
