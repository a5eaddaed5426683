/** Keys of throttle and debounce are held against the payload. Judged by the type checker. */
import { expect, test } from 'vitest'
import { task } from '@q/task'

const neverCalled = () => {
  task({ throttle: { key: '/user/id', for: '1h' } }, (_: { user: { id: number } }) => 1)
  task({ debounce: { key: 'payload', for: '5s', max: '1m' } }, (_: { user: { id: number } }) => 1)
  // @ts-expect-error the payload has no such place
  task({ throttle: { key: '/user/name', for: '1h' } }, (_: { user: { id: number } }) => 1)
  // @ts-expect-error the payload has no such place
  task({ debounce: { key: '/usr', for: '5s' } }, (_: { user: { id: number } }) => 1)
  // @ts-expect-error a window has a length
  task({ debounce: { key: '/user' } }, (_: { user: { id: number } }) => 1)
  // @ts-expect-error no such policy
  task({ cron: '* * * * *', missed: 'some' }, () => 1)
}

test('keys, windows and policies are typed', () => expect(neverCalled).toBeTypeOf('function'))
