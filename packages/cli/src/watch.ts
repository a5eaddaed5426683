/**
 * While a person waits for a run: a line that shows where it is, from the second second on. On a terminal only, and on
 * stderr, so that stdout holds the result alone.
 */
import { setTimeout as passing } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { RunHandle } from '@q/client'
import { oneLine } from '@q/schema'
import type { RunView } from '@q/store'

const lookEveryMs = 1_000
const barWidth = 24

/** Until the signal aborts; never throws. */
export async function showProgress(run: RunHandle<unknown>, signal: AbortSignal): Promise<void> {
  if (!process.stderr.isTTY) return
  try {
    for (;;) {
      await passing(lookEveryMs, undefined, { signal })
      write(progressLine(run.id, await run.status(), process.stderr.columns || Number.POSITIVE_INFINITY))
    }
  } catch {
    write('')
  }
}

/** Never wider than the terminal: a line that wraps leaves its first part behind when it is written anew. */
export function progressLine(id: string, { status, progress, note }: View, columns: number): string {
  const percent = progress === null ? '' : ` ${Math.round(progress * 100)} %`
  const head = `run ${id} ${status}`
  const barRoom = progress === null ? 0 : Math.min(barWidth, columns - head.length - percent.length - 3)
  const noteRoom = columns - head.length - percent.length - Math.max(0, barRoom) - 3
  const said = oneLine(note ?? '').slice(0, Math.max(0, noteRoom))
  return `${head} ${bar(progress ?? 0, Math.max(0, barRoom))}${percent} ${styleText('dim', said)}`
}

type View = Pick<RunView, 'status' | 'progress' | 'note'>

function bar(progress: number, width: number): string {
  const full = Math.round(progress * width)
  return styleText('green', '█'.repeat(full)) + styleText('dim', '░'.repeat(width - full))
}

function write(line: string): void {
  process.stderr.write(`\r\x1b[2K${line}`)
}
