/** Shows a run's status and progress on one line of stderr, once per second, while a person waits for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { RunHandle } from '@q/client'
import { oneLine } from '@q/schema'
import type { RunView } from '@q/store'
import type { Terminal } from './terminal.ts'

const lookEveryMs = 1_000
const barWidth = 24

/** Runs until the signal aborts; never throws. */
export async function showProgress(terminal: Terminal, run: RunHandle<unknown>, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal })
      terminal.progress(progressLine(run.id, await run.status(), terminal.columns || Number.POSITIVE_INFINITY))
    }
  } catch {
    terminal.progress('')
  }
}

/** Never wider than the terminal: rewriting a wrapped line would leave its first part on the screen. */
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
