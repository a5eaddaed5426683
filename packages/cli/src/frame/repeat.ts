/** Repeats a call once per interval until it is done or a person presses Ctrl-C, which ends the command cleanly. */
import { setTimeout as sleep } from 'node:timers/promises'

/** `interrupted`: by Ctrl-C or SIGTERM. */
export type RepeatEnd = 'done' | 'interrupted'

export async function repeat(
  everyMs: number,
  look: (signal: AbortSignal) => Promise<'again' | 'done'>,
): Promise<RepeatEnd> {
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    while (!stop.signal.aborted) {
      if ((await look(stop.signal)) === 'done') return 'done'
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => {})
    }
    return 'interrupted'
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}
