/** What must not compile does not, and what comes back has the task's type. Judged by the type checker. */
import { expect, expectTypeOf, test } from 'vitest'
import { queue, type Queue, type RunHandle } from '@q/client'
import type * as tasks from './tasks.ts'

const neverCalled = async (q: Queue<typeof tasks>) => {
  expectTypeOf(await q.enqueue('hello', { name: 'Ada' })).toEqualTypeOf<RunHandle<string>>()
  expectTypeOf(await q.enqueue('resize', { url: 'x' })).toEqualTypeOf<RunHandle<{ bytes: number }>>()
  await q.enqueue('resize', { url: 'x', width: 5 }, { delay: '5m', priority: -10 })
  // @ts-expect-error no task has this name
  await q.enqueue('helo', { name: 'Ada' })
  // @ts-expect-error an export that is not a task
  await q.enqueue('notATask', 'x')
  // @ts-expect-error the payload lacks its name
  await q.enqueue('hello', {})
  // @ts-expect-error the payload has a wrong type
  await q.enqueue('resize', { url: 5 })
  // @ts-expect-error not a duration
  await q.enqueue('hello', { name: 'Ada' }, { delay: '5 parsecs' })
}

test('names, payloads, durations and results are typed by the tasks alone', () => {
  expect(neverCalled).toBeTypeOf('function')
  expect(() => queue<typeof tasks>(undefined)).toThrow(expect.objectContaining({ code: 'DATABASE_URL_MISSING' }))
})
