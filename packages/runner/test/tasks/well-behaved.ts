/** Tasks of the tests. */
import { setTimeout as passing } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { task } from '@q/task'

export const echo = task((payload: unknown) => payload)
export const thread = task((_: unknown) => ({ threadId, pid: process.pid }))
export const fails = task((_: unknown) => {
  throw new TypeError('out of luck')
})
export const throwsNothing = task((_: unknown) => {
  throw undefined
})
export const strange = task((_: unknown) => ({ text: 'a\0b\uD800c', bad: BigInt(1).toString(), nan: Number.NaN }))
export const circular = task((_: unknown) => {
  const self: Record<string, unknown> = {}
  self['self'] = self
  return self
})
export const huge = task((_: unknown) => 'x'.repeat(2_000_000))
export const exits = task((_: unknown) => process.exit(3))
export const patient = task(async ({ ms }: { ms: number }, ctx) => {
  await passing(ms, undefined, { signal: ctx.signal })
  return 'waited'
})
export const patientRetry = task({ onCrash: 'retry' }, async ({ ms }: { ms: number }, ctx) => {
  await passing(ms, undefined, { signal: ctx.signal })
  return 'waited'
})
export const spins = task(({ ms }: { ms: number }, ctx) => {
  const end = performance.now() + ms
  let rounds = 0
  while (performance.now() < end) ctx.heartbeat(0.5, `round ${++rounds}`)
  return rounds > 0
})
/** Sees neither signal nor heartbeat. */
export const deaf = task(({ ms }: { ms: number }) => {
  const end = performance.now() + ms
  while (performance.now() < end);
  return 'done'
})
export const context = task((_: unknown, ctx) => ({
  runId: ctx.runId,
  attempt: ctx.attempt,
  key: ctx.idempotencyKey,
  lease: ctx.lease,
  aborted: ctx.signal.aborted,
}))
