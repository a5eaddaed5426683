/**
 * The LISTEN session that all waits of this process share, for runs and workflows, and the poll behind it. The first wait
 * opens the session; after a loss the next wait or poll reopens it. Without a session, the poll alone finds every end.
 */
import { listen, type EndedWake, type Listener, type Origin } from '@q/store'
import { createPoll } from './poll.ts'

/** The waits for one kind of thing: runs or workflows. */
export interface Subscriber {
  /** Something ended, which this subscriber may not be waiting for. */
  onEnded(wake: EndedWake): void
  isWaiting(): boolean
  /** Reads the state of everything this subscriber waits for. */
  check(): Promise<void>
}

export interface CompletionListener {
  subscribe(subscriber: Subscriber): void
  /** Resolves when the session is listening, or could not be opened. */
  open(): Promise<void>
  /** Call this when a wait begins or ends: the poll runs only while something waits. */
  update(): void
  close(): Promise<void>
}

export function createCompletionListener(origin: Origin | undefined): CompletionListener {
  const subscribers: Subscriber[] = []
  let listening: Promise<Listener | undefined> | undefined
  let closed = false

  const poll = createPoll(async () => {
    if (origin !== undefined) void (listening ??= openListener())
    await Promise.all(
      subscribers.filter((subscriber) => subscriber.isWaiting()).map((subscriber) => subscriber.check()),
    )
  })

  async function openListener(): Promise<Listener | undefined> {
    if (origin === undefined || closed) return undefined
    return listen(origin, ['q_outcome', 'q_ended'], {
      onWake(wake) {
        if (wake.channel === 'q_outcome' || wake.channel === 'q_ended')
          for (const subscriber of subscribers) subscriber.onEnded(wake)
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
    subscribe: (subscriber) => void subscribers.push(subscriber),
    async open() {
      await (listening ??= openListener())
    },
    update() {
      if (subscribers.some((subscriber) => subscriber.isWaiting())) poll.start()
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
