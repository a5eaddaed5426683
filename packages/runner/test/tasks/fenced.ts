/** Tasks that run until they are stopped; each leaves a file when it is. Started again, they return at once. */
import { existsSync, writeFileSync } from 'node:fs'
import { task, type TaskContext } from '@q/task'

export interface Fenced {
  /** Written when the code begins. */
  readonly began: string
  /** Written when the code notices the stop. */
  readonly stopped: string
}

function begins({ began }: Fenced): boolean {
  const first = !existsSync(began)
  if (first) writeFileSync(began, String(process.pid))
  return first
}

function beats(files: Fenced, ctx: TaskContext): string {
  if (!begins(files)) return 'again'
  try {
    for (;;) ctx.heartbeat()
  } catch (error) {
    writeFileSync(files.stopped, String(error))
    throw error
  }
}
export const beatsAgain = task({ onCrash: 'retry' }, beats)
export const beatsKeyed = task({ concurrency: { key: '/began' } }, beats)

export const awaitsAgain = task({ onCrash: 'retry' }, async (files: Fenced, ctx) => {
  if (!begins(files)) return 'again'
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  writeFileSync(files.stopped, String(ctx.signal.reason))
  throw ctx.signal.reason
})

/** Ignores a stop: it neither beats nor listens to the signal. */
export const spinsAlone = task({ isolation: 'process', onCrash: 'retry' }, (files: Fenced) => {
  if (!begins(files)) return 'again'
  for (;;);
})

/** Sends heartbeats until the file exists that the others write when they are stopped. */
export const beatsOn = task({ onCrash: 'fail' }, (files: Fenced, ctx) => {
  begins(files)
  while (!existsSync(files.stopped)) ctx.heartbeat()
  return 'went on'
})
