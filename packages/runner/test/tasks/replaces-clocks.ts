/** Its task replaces clocks and timers, as a library of fake timers does, and leaves them so. */
import { task, type TaskContext } from '@q/task'

const stopped = () => {
  throw new Error('This clock is stopped.')
}

export const fakeTimers = task((_: unknown, context: TaskContext) => {
  for (const name of ['setImmediate', 'setInterval', 'setTimeout', 'queueMicrotask'])
    Reflect.set(globalThis, name, () => 0)
  Reflect.set(Date, 'now', stopped)
  Reflect.set(performance, 'now', stopped)
  Reflect.set(process, 'hrtime', stopped)
  context.log.info('replaced')
})

const { hrtime } = process
const longerThanATurnMs = 20

/** Blocks until the thread must let its event loop turn. */
export const busy = task(() => {
  const [fromSeconds, fromNanoseconds] = hrtime()
  for (let ms = 0; ms < longerThanATurnMs;) {
    const [seconds, nanoseconds] = hrtime()
    ms = (seconds - fromSeconds) * 1_000 + (nanoseconds - fromNanoseconds) / 1_000_000
  }
  return 'done'
})
