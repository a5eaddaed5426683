import { threadId } from 'node:worker_threads'
import { task } from '@q/task'

/** Not caused by any run: a module that does work when it is imported, in every thread. */
let thrown = 0
setInterval(() => {
  thrown++
  throw new Error('of a module, and of no run')
}, 20)

export const where = task(() => ({ threadId, thrown }))
