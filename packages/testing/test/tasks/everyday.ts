/** Tasks of the tests: one for each thing that can become of a run. */
import { Fail, Retry, Snooze, task } from '@q/task'
import { z } from 'zod'

export const hello = task(({ name }: { name: string }) => `Hello, ${name}!`)
export const resize = task(
  { input: z.object({ url: z.string(), width: z.number().default(800) }), queue: 'images', priority: 5 },
  ({ url, width }) => ({ url, width }),
)
/** What it accepts cannot be said as JSON Schema: its producer learns of a misfit when it runs. */
export const evenOnly = task(
  { input: z.object({ number: z.number().refine((given) => given % 2 === 0) }), retry: { attempts: 3 } },
  ({ number }) => number,
)
export const flaky = task({ retry: { attempts: 3, delay: '1m' } }, ({ from }: { from: number }, ctx) => {
  if (ctx.attempt < from) throw new Error(`not yet, ${ctx.attempt}`)
  return ctx.attempt
})
export const impatient = task({ retry: { attempts: 3, delay: 0 } }, (_: object, ctx) => {
  if (ctx.attempt < 3) throw new Error('at once')
  return ctx.attempt
})
export const hopeless = task({ retry: { attempts: 3 } }, (_: object) => {
  throw new Fail('hopeless')
})
export const asksAgain = task({ retry: { attempts: 2 } }, (_: object, ctx) => {
  if (ctx.attempt === 1) throw new Retry({ after: '3h' })
  return 'done'
})
export const waits = task(async ({ until }: { until: string }, ctx) => {
  const seen = await ctx.once('seen', () => 0)
  if (ctx.resumed !== until) {
    await ctx.checkpoint(until)
    throw new Snooze('1d')
  }
  return { attempt: ctx.attempt, seen }
})
export const strange = task((_: object) => ({ text: 'a\0b', number: Number.POSITIVE_INFINITY }))
export const noJson = task((_: object) => 1n)
export const parent = task(async ({ children }: { children: number }, ctx) => {
  for (let child = 0; child < children; child++) await ctx.enqueue('resize', { url: `child ${child}` })
  ctx.log.info({ children }, 'all sent')
  return children
})
export const forever = task(async (_: object, ctx) => void (await ctx.enqueue('forever', {})))
export const oneAtATime = task(
  { concurrency: { key: '/account', limit: 1 } },
  ({ order }: { account: string; order: number }) => order,
)
export const onceADay = task({ unique: { key: '/day', for: '1d' } }, ({ day }: { day: string }) => day)
export const survivor = task({ onCrash: 'retry' }, (_: object, ctx) => ctx.attempt)
export const mortal = task((_: object, ctx) => ctx.attempt)
export const needsGpu = task({ requires: ['gpu'] }, (_: object) => 'computed')
export const slow = task({ timeout: '200ms' }, (_: object, ctx) => untilStopped(ctx.signal))
export const silent = task({ maxSilent: '200ms' }, (_: object, ctx) => untilStopped(ctx.signal))
export const deaf = task({ timeout: '200ms' }, (_: object) => new Promise<void>(() => {}))
export const patient = task((_: object, ctx) => untilStopped(ctx.signal))

function untilStopped(signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>()
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return promise
}
