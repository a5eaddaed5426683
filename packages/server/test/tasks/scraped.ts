/** Tasks whose runs the metrics count. */
import { Retry, task } from '@q/task'

export const double = task((payload: { n: number }) => payload.n * 2)
export const breaks = task({ queue: 'reports' }, (_: unknown) => {
  throw new Error('no')
})
export const second = task({ retry: { attempts: 2, delay: '1ms' } }, (_: unknown, { attempt }) => {
  if (attempt === 1) throw new Retry({ after: '1ms' })
  return attempt
})
