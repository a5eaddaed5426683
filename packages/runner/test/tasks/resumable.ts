/** Tasks that use what the context offers beyond a heartbeat. */
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestRefused, task } from '@q/task'

const again = { attempts: 3, backoff: 'fixed', delay: '20ms' } as const

/** Counts to ten, and fails after each fourth; goes on where it was. */
export const counts = task({ retry: again }, async (_: unknown, ctx) => {
  const { at = 0 } = (ctx.resumed ?? {}) as { at?: number }
  const begunAt = at
  for (let next = at + 1; next <= 10; next++) {
    if (next - begunAt > 4) throw new Error(`failed at ${next}`)
    await ctx.checkpoint({ at: next })
  }
  return { attempt: ctx.attempt, begunAt }
})
/** The same in a process of its own. */
export const countsAlone = task({ retry: again, isolation: 'process' }, async (_: unknown, ctx) => {
  if (ctx.resumed !== undefined) return { resumed: ctx.resumed, pid: process.pid }
  await ctx.checkpoint('half way')
  throw new Error('once more')
})
export const steps = task({ retry: again }, async (_: unknown, ctx) => {
  const random = () => ({ at: Math.random() })
  const [first, same] = await Promise.all([ctx.once('a', random), ctx.once('a', random)])
  const nothing = await ctx.once('nothing', () => {})
  const fails = await ctx.once('fails', () => Promise.reject(new Error('not stored'))).catch(() => 'thrown')
  await ctx.checkpoint({ seen: [...((ctx.resumed as { seen?: unknown[] } | undefined)?.seen ?? []), first.at] })
  if (ctx.attempt < 3) throw new Error('once more')
  return { first, same, nothing, fails, seen: (ctx.resumed as { seen: unknown[] }).seen }
})
export const asksTooMuch = task(async (_: unknown, ctx) => {
  const codes: unknown[] = []
  const code = (error: unknown) => void codes.push(error instanceof RequestRefused ? error.code : error)
  await ctx.checkpoint('kept')
  await ctx.checkpoint('x'.repeat(2_000_000)).catch(code)
  await ctx.checkpoint({ id: 1n }).catch(code)
  await ctx.once('large', () => 'x'.repeat(2_000_000)).catch(code)
  await ctx.enqueue('echoes', { map: new Map() }).catch(code)
  await ctx.enqueue('', {}).catch(code)
  return codes
})
export const echoes = task({ concurrency: { key: '/key' } }, (payload: { key: string }) => payload)
export const parent = task(async (_: unknown, ctx) => {
  const child = await ctx.enqueue('echoes', { key: 'k' }, { priority: 5 })
  const later = await ctx.enqueue('echoes', { key: 'l' }, { delay: '1h' })
  return [child.id, later.id]
})
export const logs = task(({ lines }: { lines: number }, ctx) => {
  for (let line = 0; line < lines; line++) ctx.log.info({ line, error: new Error('e') }, `line ${line}`)
  ctx.log.warn('the last\0')
  return 'logged'
})
export const logsAndFails = task({ retry: again }, (_: unknown, ctx) => {
  ctx.log.info({ attempt: ctx.attempt }, 'tried')
  throw new Error('as ever')
})
/** Logs out of a busy loop that never ends. */
export const logsBusily = task({ maxSilent: '5s' }, (_: unknown, ctx) => {
  ctx.log.error({ deep: new Map() }, 'x'.repeat(10_000))
  for (;;);
})
/** A stop is requested while it awaits; its later requests are refused. */
export const asksLate = task({ timeout: '300ms' }, async (_: unknown, ctx) => {
  await sleep(60_000, undefined, { signal: ctx.signal }).catch(() => {})
  return await ctx.checkpoint('too late').catch((error: unknown) => (error as RequestRefused).code)
})
/** Saves until a save is refused. */
export const savesOn = task(async (_: unknown, ctx) => {
  for (let at = 0; ; at++) await ctx.checkpoint({ at })
})
/** Saves once, and continues until a stop is requested. */
export const savesAndWaits = task({ onCrash: 'retry' }, async (_: unknown, ctx) => {
  await ctx.checkpoint('half way')
  await sleep(600_000, undefined, { signal: ctx.signal })
})
