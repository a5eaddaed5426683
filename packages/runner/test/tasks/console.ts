/** Tasks that write to the console, now and when they have ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task, type TaskContext } from '@q/task'

function speaks(_: unknown, ctx: TaskContext): void {
  console.log('hello %s', 'Ada', { deep: { er: [1] } })
  console.debug('detail')
  ctx.log.info('by ctx.log')
  console.warn('careful')
  console.error('failed:', new TypeError('odd').message)
  console.table([{ a: 1 }])
  console.dir({ b: 2 })
}
export const speaksHere = task(speaks)
export const speaksAlone = task({ isolation: 'process' }, speaks)

const late = { lines: 0 }

/** Continues to write after its run has ended. */
export const speaksLate = task((_: unknown) => {
  const timer = setInterval(() => {
    console.log('of the run before')
    if (++late.lines > 20) clearInterval(timer)
  }, 5)
})
/** Ends when the run before it has written a line. */
export const speaksBeside = task(async (_: unknown) => {
  console.log('mine')
  for (const before = late.lines; late.lines < before + 3;) await sleep(5)
})

/** Never ends by itself. */
export const speaksOn = task((_: unknown) => {
  for (let line = 0; line < 20_000; line++) console.log('line', line)
})
