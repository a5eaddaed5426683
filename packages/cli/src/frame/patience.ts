/** Says what a command waits for if that takes longer than two seconds, so that it does not look like a hang. */
import type { Store } from '@q/store'
import { quietMs } from './progress.ts'
import type { Terminal } from './terminal.ts'

const everyMs = 500

/** Terminals where nothing more is said: the work is part of other work, or the command draws the whole screen. */
const spokenFor = new WeakSet<Terminal>()

/** Keeps the rest of the command from writing progress. */
export function drawAlone(terminal: Terminal): void {
  spokenFor.add(terminal)
}

/** `begun`: the start of the whole work, if this is a part of it. */
export async function patiently<T>(
  terminal: Terminal,
  doing: () => string,
  work: () => Promise<T>,
  begun: number = performance.now(),
): Promise<T> {
  if (spokenFor.has(terminal)) return work()
  spokenFor.add(terminal)
  let isShown = false
  const timer = setInterval(() => {
    const tookMs = performance.now() - begun
    if (tookMs < quietMs) return
    isShown = true
    terminal.progress(`${doing()} (${Math.round(tookMs / 1_000)} s)`)
  }, everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    spokenFor.delete(terminal)
    if (isShown) terminal.progress('')
  }
}

/** The same store; each of its calls is waited for patiently. */
export function patientStore(terminal: Terminal, store: Store): Store {
  return new Proxy(store, {
    get(verbs, name) {
      const verb: unknown = Reflect.get(verbs, name)
      if (typeof verb !== 'function') return verb
      return (...args: unknown[]) => {
        const call = async (): Promise<unknown> => Reflect.apply(verb, verbs, args)
        return patiently(terminal, () => 'waiting for the database', call)
      }
    },
  })
}
