/** Tasks that write more than a pipe holds. */
import { task, type TaskContext } from '@q/task'

export const echo = task((payload: unknown) => payload)

/** Writes lines to its log, and to both outputs of its process. */
function talk(_: unknown, ctx: TaskContext): string {
  for (let line = 0; line < 200; line++) {
    ctx.log.info('x'.repeat(2_000))
    process.stdout.write(`${'y'.repeat(2_000)}\n`)
    process.stderr.write(`${'z'.repeat(2_000)}\n`)
  }
  return 'talked'
}
export const talks = task(talk)
export const talksAlone = task({ isolation: 'process' }, talk)
