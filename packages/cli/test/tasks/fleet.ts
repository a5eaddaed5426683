/** Tasks that succeed, fail, hang, crash, wait and compete for a key: what a person on call meets. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '@q/task'

/** Reports its progress and logs, for as long as it is given. */
export const render = task({ queue: 'media' }, async ({ ms }: { ms: number; url?: string }, ctx) => {
  ctx.log.info({ ms }, 'rendering')
  for (let part = 1; part <= 20; part++) {
    await sleep(ms / 20, undefined, { signal: ctx.signal })
    ctx.heartbeat(part / 20, `frame ${part} of 20`)
  }
  ctx.log.warn('rendered with warnings')
  return { frames: 20 }
})

export const fails = task({ queue: 'media' }, ({ why }: { why: string }, ctx) => {
  ctx.log.error(`cannot continue: ${why}`)
  throw new Error(why)
})

/** Hears nothing: it must be stopped from outside. */
export const hangs = task({ queue: 'cpu' }, () => {
  for (;;);
})

export const crashes = task({ queue: 'cpu' }, () => {
  process.kill(process.pid, 'SIGKILL')
})

export const keyed = task(
  { queue: 'cpu', concurrency: { key: '/key' } },
  async ({ ms }: { key: string; ms: number }, ctx) => {
    await sleep(ms, undefined, { signal: ctx.signal })
  },
)

export const needsGpu = task({ queue: 'gpu', requires: ['gpu'] }, () => 'rendered')
