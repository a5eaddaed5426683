/** Shows a run's status and progress on one line of stderr, once per second, while a person waits for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunHandle } from '@q/client'
import { oneLine } from '@q/schema'
import type { RunView } from '@q/store'
import { styled } from '../words/style.ts'
import type { Look, Terminal } from './terminal.ts'

const lookEveryMs = 1_000
const barWidth = 24

/** Runs until the signal aborts; never throws. */
export async function showProgress(terminal: Terminal, run: RunHandle<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(lookEveryMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return terminal.progress('')
    const view = await run.status().catch(() => undefined)
    terminal.progress(
      view === undefined ? `run ${run.id}: its state cannot be read` : progressLine(run.id, view, terminal),
    )
  }
}

/** Never wider than the terminal: the note is cut first. */
export function progressLine(id: string, { status, progress, note }: View, look: Look): string {
  const columns = look.columns || Number.POSITIVE_INFINITY
  const percent = progress === null ? '' : ` ${Math.round(progress * 100)} %`
  const head = `run ${id} ${status}`
  const barRoom = progress === null ? 0 : Math.min(barWidth, columns - head.length - percent.length - 3)
  const noteRoom = columns - head.length - percent.length - Math.max(0, barRoom) - 3
  const said = oneLine(note ?? '').slice(0, Math.max(0, noteRoom))
  return `${head} ${bar(look, progress ?? 0, Math.max(0, barRoom))}${percent} ${styled(look, 'dim', said)}`
}

type View = Pick<RunView, 'status' | 'progress' | 'note'>

function bar(look: Look, progress: number, width: number): string {
  const [done, open] = look.ascii ? ['#', '.'] : ['█', '░']
  const full = Math.round(progress * width)
  return styled(look, 'green', done.repeat(full)) + styled(look, 'dim', open.repeat(width - full))
}
