/** A line on stderr while work takes longer than two seconds, so that silence is never mistaken for a hang. */
import type { Terminal } from './terminal.ts'

const quietMs = 2_000
const everyMs = 500

/** `begun`: when the whole work began, if this is a part of it. */
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
