/** Keeps one LISTEN session open and passes its wakes on. After every (re)connect it wakes once: hints may be lost. */
import type { Listener } from '@q/store'
import { whenWoken, type Next } from '../loop.ts'

export interface ListenDeps {
  readonly openListener: (handlers: {
    onWake: () => void
    onLost: (error: Error | undefined) => void
  }) => Promise<Listener>
  readonly onWake: () => void
  readonly onLost: (error: Error | undefined) => void
}

export interface Listening {
  tick(): Promise<Next>
  close(): void
}

export function createListening(deps: ListenDeps): Listening {
  let listener: Listener | undefined
  return {
    async tick() {
      if (listener === undefined) {
        const { onWake } = deps
        listener = await deps.openListener({
          onWake,
          onLost(error) {
            listener = undefined
            deps.onLost(error)
          },
        })
        onWake()
      }
      return whenWoken
    },
    close: () => listener?.close(),
  }
}
