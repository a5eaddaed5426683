/** Jest's `expect`, as it is: the matcher is not Vitest's alone. */
import { expect as jestExpect } from 'expect'
import { expect, test } from 'vitest'
import { testQueue, toHaveEnqueued, type HasEnqueued } from '@q/testing'
import * as tasks from './tasks/everyday.ts'

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends HasEnqueued<T> {}
}

test('the matcher works in Jest, with the same message', async () => {
  jestExpect.extend({ toHaveEnqueued })
  await using q = await testQueue({ tasks })
  await q.enqueue('resize', { url: 'a', width: 5 })
  await jestExpect(q).toHaveEnqueued('resize', { url: jestExpect.any(String) }, { times: 1 })
  await jestExpect(q).not.toHaveEnqueued('hello')
  const failing = Promise.resolve(jestExpect(q).toHaveEnqueued('resize', { url: jestExpect.stringContaining('z') }))
  await expect(failing).rejects.toThrow('a run to have been enqueued: resize with {"url": StringContaining "z"}')
})
