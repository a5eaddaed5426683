/** Work that lasts, of both kinds: one that may be started again after a crash, and one that may not. */
import { setTimeout as passing } from 'node:timers/promises'
import { task } from '@q/task'

export const lasting = task({ onCrash: 'retry' }, async ({ ms }: { ms: number }, ctx) => {
  await passing(ms, undefined, { signal: ctx.signal })
  return 'done'
})

export const lastingOnce = task({ onCrash: 'fail' }, async ({ ms }: { ms: number }, ctx) => {
  await passing(ms, undefined, { signal: ctx.signal })
  return 'done'
})

export const ticks = task(() => 'ticked')

/** One at a time by the value of its payload. */
export const lastingByKey = task(
  { onCrash: 'fail', concurrency: { key: '/key' } },
  async ({ ms }: { ms: number; key: string }, ctx) => {
    await passing(ms, undefined, { signal: ctx.signal })
    return 'done'
  },
)

/** Hears nothing. */
export const deaf = task((_: unknown) => {
  for (;;);
})

/** Is as busy, and gives signs of life. */
export const beating = task((_: unknown, ctx) => {
  for (;;) ctx.heartbeat()
})
