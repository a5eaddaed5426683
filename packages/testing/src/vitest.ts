/** `import '@q/testing/vitest'` in a test or setup file adds `toHaveEnqueued` to Vitest's `expect`. */
import { expect } from 'vitest'
import type { HasEnqueued } from './has-enqueued.ts'
import { toHaveEnqueued } from './to-have-enqueued.ts'

declare module 'vitest' {
  // oxlint-disable-next-line no-unused-vars -- both belong to the interface that is extended
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends HasEnqueued<T> {}
}

expect.extend({ toHaveEnqueued })
