/** Short runs, as many as a thread is handed together, and what one of them can do to its neighbours. */
import { appendFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { task } from '@q/task'
import { untilOpen } from '../until-open.ts'

export interface ShortPayload {
  readonly does?: 'nothing' | 'exits' | 'loops' | 'waits' | 'logs' | 'throws' | 'a large result'
  /** The file of a gate, for `waits`. */
  readonly until?: string
  /** A file that gets a line for every begin. */
  readonly mark?: string
  readonly name?: string
}

async function short({ does = 'nothing', until = '', mark, name = '' }: ShortPayload, ctx: Context): Promise<unknown> {
  if (mark !== undefined)
    appendFileSync(
      mark,
      `${JSON.stringify({ what: 'began', name, pid: process.pid, atMs: 0, attempt: ctx.attempt })}\n`,
    )
  switch (does) {
    case 'exits':
      return process.exit(3)
    case 'loops':
      for (;;);
    case 'waits':
      await untilOpen(until, ctx.signal)
      break
    case 'logs':
      ctx.log.info('a line')
      break
    case 'throws':
      throw new Error('on purpose')
    case 'a large result':
      return 'x'.repeat(5_000)
    case 'nothing':
      break
  }
  return threadId
}

interface Context {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly log: { info(line: string): void }
}

export const short1 = task({ name: 'short' }, short)
export const shortAgain = task({ onCrash: 'retry' }, short)
export const shortLimited = task({ timeout: 300 }, short)
export const oneAtATime = task({ startAhead: 1 }, short)
export const shortAlone = task({ isolation: 'process' }, short)
