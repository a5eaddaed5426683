/** Prints a line to stderr if work takes longer than two seconds, so that it does not look like a hang. */
import type { Terminal } from './terminal.ts'

const quietMs = 2_000
const everyMs = 500

/** `begun`: the start of the whole work, if this is a part of it. */
export async function patiently<T>(
  terminal: Terminal,
  doing: () => string,
  work: Promise<T>,
  begun: number = performance.now(),
): Promise<T> {
  const timer = setInterval(() => {
    const tookMs = performance.now() - begun
    if (tookMs >= quietMs) terminal.progress(`${doing()} (${Math.round(tookMs / 1_000)} s)`)
  }, everyMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
    terminal.progress('')
  }
}
