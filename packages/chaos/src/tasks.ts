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
