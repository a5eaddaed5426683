/**
 * While a person waits for a run: a line that shows where it is, from the second second on. On a terminal only, and on
 * stderr, so that stdout holds the result alone.
 */
import { setTimeout as passing } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { RunHandle } from '@q/client'

const lookEveryMs = 1_000
const barWidth = 24

/** Until the signal aborts; never throws. */
export async function showProgress(run: RunHandle<unknown>, signal: AbortSignal): Promise<void> {
  if (!process.stderr.isTTY) return
  try {
    for (;;) {
      await passing(lookEveryMs, undefined, { signal })
      const { status, progress, note } = await run.status()
      const done = progress === null ? '' : `${bar(progress)} ${Math.round(progress * 100)} %`
      write(`${styleText('dim', `run ${run.id}`)} ${status} ${done} ${styleText('dim', note ?? '')}`)
    }
  } catch {
    write('')
  }
}

function bar(progress: number): string {
  const full = Math.round(progress * barWidth)
  return styleText('green', '█'.repeat(full)) + styleText('dim', '░'.repeat(barWidth - full))
}

function write(line: string): void {
  process.stderr.write(`\r\x1b[2K${line}`)
}
