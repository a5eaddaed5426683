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

/** A step of a workflow: takes its time, and fails if it is told to. */
export const step = task({ onCrash: 'retry' }, async ({ ms = 0, fails = false, list }: StepPayload, ctx) => {
  if (ms > 0) await passing(ms, undefined, { signal: ctx.signal })
  if (fails) throw new Error('on purpose')
  return list ?? 'done'
})

export interface StepPayload {
  readonly ms?: number
  readonly fails?: boolean
  /** What it returns. */
  readonly list?: readonly number[]
}
