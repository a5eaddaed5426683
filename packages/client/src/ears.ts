/**
 * The one LISTEN session of this process, and the poll behind it, for everybody who waits for an end: of runs, of
 * workflows. Opened when somebody waits, and again when it was lost; where it cannot be had the poll alone serves.
 */
import { listen, type Listener, type Origin, type Wake } from '@q/store'
import { createPoll } from './poll.ts'

export type EndedWake = Extract<Wake, { channel: 'q_ended' }>

/** One kind of thing that is waited for. */
export interface Hearer {
  /** Something ended; it may be nothing that is waited for here. */
  heard(wake: EndedWake): void
  isWaiting(): boolean
  /** Looks at all that are waited for. */
  look(): Promise<void>
}

export interface Ears {
  join(hearer: Hearer): void
  /** Resolves when ends are heard, or cannot be. */
  open(): Promise<void>
  /** To be called when somebody begins or stops to wait. */
  update(): void
  close(): Promise<void>
}

export function createEars(origin: Origin | undefined): Ears {
  const hearers: Hearer[] = []
  let listening: Promise<Listener | undefined> | undefined
  let closed = false

  const poll = createPoll(async () => {
    if (origin !== undefined) void (listening ??= openListener())
    await Promise.all(hearers.filter((hearer) => hearer.isWaiting()).map((hearer) => hearer.look()))
  })

  async function openListener(): Promise<Listener | undefined> {
    if (origin === undefined || closed) return undefined
    return listen(origin, 'q_ended', {
      onWake(wake) {
        if (wake.channel === 'q_ended') for (const hearer of hearers) hearer.heard(wake)
      },
      onLost: () => {
        listening = undefined // the next wait or poll listens again
      },
    }).catch(() => {
      listening = undefined
      return undefined
    })
  }

  return {
    join: (hearer) => void hearers.push(hearer),
    async open() {
      await (listening ??= openListener())
    },
    update() {
      if (hearers.some((hearer) => hearer.isWaiting())) poll.start()
      else poll.stop()
    },
    async close() {
      closed = true
      poll.stop()
      const listener = await listening
      listener?.close()
    },
  }
}
