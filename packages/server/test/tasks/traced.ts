/** Tasks of threads that record spans. */
// oxlint-disable-next-line import/no-unassigned-import -- registers the SDK in this thread
import './tracing.ts'
import { trace } from '@opentelemetry/api'
import { Retry, task } from '@q/task'

export const outer = task(async (payload: unknown, ctx) => {
  await ctx.once('charge', () => true)
  await ctx.enqueue('inner', payload)
})

/** The span in which it runs. */
export const inner = task((_: unknown) => trace.getActiveSpan()?.spanContext().traceId)

export const broken = task((_: unknown) => {
  throw new Error('secret message')
})

/** Succeeds when it is started again. */
export const flaky = task({ retry: { attempts: 2 } }, (_: unknown, { attempt }) => {
  if (attempt === 1) throw new Retry({ after: '1h' })
  return attempt
})
