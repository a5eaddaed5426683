/** Tasks of the replicas that the tests look at in a browser. Each works until its file exists, or at once. */
import { existsSync } from 'node:fs'
import { task, type Task } from '@q/task'

interface Waiting {
  readonly until: string
}

/** Computes without a pause: only its replica can stop it. */
export const spin: Task<Waiting, string, never> = task({ onCrash: 'fail' }, ({ until }: Waiting, ctx) => {
  for (let round = 0; !existsSync(until); round++) if (round % 1_000 === 0) ctx.heartbeat(0.5, 'round and round')
  return 'done'
})

/** Reports a quarter, waits for its file, and may be started again after a crash. */
export const resume: Task<Waiting, string, never> = task({ onCrash: 'retry' }, async ({ until }: Waiting, ctx) => {
  ctx.heartbeat(0.25, 'first part')
  ctx.log.info('first part done')
  while (!existsSync(until)) await new Promise((resolve) => setTimeout(resolve, 20))
  ctx.log.info('it may end')
  return 'done'
})

/** In a queue of its own, for the replica that serves it. */
export const elsewhere: Task<Waiting, string, never> = task({ queue: 'second' }, async ({ until }: Waiting) => {
  while (!existsSync(until)) await new Promise((resolve) => setTimeout(resolve, 20))
  return 'done'
})

export const fail: Task<{ readonly message: string }, never, never> = task(
  ({ message }: { readonly message: string }) => {
    throw new Error(message)
  },
)

export const hello: Task<{ readonly name?: string }, string, never> = task(
  ({ name = 'world' }: { readonly name?: string }) => `hello ${name}`,
)

/** Of which one run at a time may wait or execute. */
export const only: Task<object, string, never> = task({ unique: 'payload' }, () => 'done')
