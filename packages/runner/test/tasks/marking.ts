/** Tasks that leave marks in a file, so that a test can compare what happened with what was recorded. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '@q/task'
import { untilOpen } from '../until-open.ts'

export interface MarkedPayload {
  readonly file: string
  readonly name: string
  readonly ms?: number
  /** The file of a gate, instead of `ms`. */
  readonly until?: string
  /** Of every attempt but the first; default: the same. */
  readonly againMs?: number
  /** Busy all the time; does not notice a stop. */
  readonly deaf?: boolean
  /** After its effect the code kills the whole process, the first time it is started. */
  readonly thenDie?: boolean
}

async function marked(
  { file, name, ms = 0, until, againMs, deaf, thenDie }: MarkedPayload,
  ctx: { signal: AbortSignal; attempt: number },
) {
  const mark = (what: string) =>
    appendFileSync(
      file,
      `${JSON.stringify({ what, name, pid: process.pid, atMs: Date.now(), attempt: ctx.attempt })}\n`,
    )
  mark('began')
  try {
    if (deaf === true) for (const end = performance.now() + ms; performance.now() < end;);
    else if (ctx.attempt > 1 && againMs !== undefined) await sleep(againMs, undefined, { signal: ctx.signal })
    else if (until !== undefined) await untilOpen(until, ctx.signal)
    else await sleep(ms, undefined, { signal: ctx.signal })
  } catch (error) {
    mark('stopped')
    throw error
  }
  mark('effect')
  if (thenDie === true && ctx.attempt === 1) process.kill(process.pid, 'SIGKILL')
  return process.pid
}

export const markOnce = task({ onCrash: 'fail' }, marked)
export const markAgain = task({ onCrash: 'retry' }, marked)
