/** Tasks that end in each of the ways there are. */
import { existsSync } from 'node:fs'
import { Fail, Retry, Snooze, task } from '@q/task'
import { z } from 'zod'

/** Another copy of the package, as two versions of it in one installation would be. */
const copy = (await import(`${import.meta.resolve('@q/task')}?copy`)) as { Fail: typeof Fail }

const quickly = { attempts: 3, backoff: 'fixed', delay: '20ms' } as const

export const succeedsAt = task({ retry: quickly }, ({ attempt }: { attempt: number }, ctx) => {
  if (ctx.attempt < attempt) throw new Error(`not yet, ${ctx.attempt}`)
  return ctx.attempt
})
export const checked = task(
  { retry: quickly, input: z.object({ url: z.url(), width: z.number().default(800) }) },
  ({ width }) => width,
)
/** A validator with strange words, and many of them. */
export const strangelyChecked = task(
  {
    input: {
      '~standard': {
        version: 1,
        vendor: 'strange',
        validate: () => ({ issues: Array.from({ length: 50_000 }, () => ({ message: 'a\0b\uD800' })) }),
      },
    },
  },
  (_: unknown) => 'checked',
)
export const repaired = task((_: unknown) => ({ text: 'a\0b', numbers: [1, Number.NaN] }))
export const once = task((_: unknown) => {
  throw new Error('no second time')
})
export const failsForGood = task({ retry: quickly }, (_: unknown) => {
  throw new Fail('hopeless', { cause: 'fate' })
})
export const failsAlike = task(({ n }: { n: number }) => {
  throw new Fail(`${'x'.repeat(n)} is over its quota`, { fingerprint: 'quota' })
})
export const failsForGoodInAnotherCopy = task({ retry: quickly }, (_: unknown) => {
  throw new copy.Fail('hopeless as well')
})
export const asksAgain = task({ retry: { attempts: 2, delay: '1h' } }, (_: unknown, ctx) => {
  if (ctx.attempt === 1) throw new Retry({ after: '10ms' })
  return 'the second time'
})
export const snoozes = task(({ until }: { until: number }, ctx) => {
  if (Date.now() < until) throw new Snooze('50ms')
  return ctx.attempt
})
/** Until the gate of that file is open. */
export const snoozesAtGate = task(({ until }: { until: string }, ctx) => {
  if (!existsSync(until)) throw new Snooze('50ms')
  return ctx.attempt
})
export const onlyOne = task({ unique: '/key' }, async (_: { key: string }, ctx) => {
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
})

export const unreachable = task((_: unknown) => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  throw new Error('the order failed', { cause: new AggregateError([refused], '', { cause: 'no network' }) })
})
