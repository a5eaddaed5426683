/**
 * All tabs of a browser share one stream, because a browser opens only six connections to a server: the tab that holds the lock
 * reads the stream for everything that any tab wants, and passes the frames on. When it closes, another tab gets the lock.
 * While every tab is hidden there is no stream.
 */
import type { Mode } from './connection.ts'
import type { RawFrame } from './sse-parser.ts'
import type { Topic } from './topics.ts'

interface Want {
  readonly topics: readonly Topic[]
  readonly hidden: boolean
  readonly at: number
}

type Message =
  | { readonly kind: 'want'; readonly tab: string; readonly want: Want }
  | { readonly kind: 'gone'; readonly tab: string }
  | { readonly kind: 'who' }
  | { readonly kind: 'frame'; readonly frame: RawFrame }
  | { readonly kind: 'mode'; readonly mode: Mode }

/** A tab that crashed says nothing; browsers wake hidden tabs once a minute. */
const forgetAfterMs = 150_000
const repeatMs = 30_000

export interface TabHandlers {
  readonly onFrame: (frame: RawFrame) => void
  readonly onMode: (mode: Mode) => void
  /** Of the stream, for a tab that joins while it is open. */
  readonly mode: () => Mode
  /** In the leading tab: the union of what visible tabs want changed. Empty: close the stream. */
  readonly onWanted: (topics: ReadonlySet<Topic>) => void
}

export interface SharedStream {
  want(topics: readonly Topic[]): void
  /** Used by the leading tab. */
  passOn(frame: RawFrame): void
  passMode(mode: Mode): void
  close(): void
}

export function joinTabs({ onFrame, onMode, mode, onWanted }: TabHandlers): SharedStream {
  const own = Math.random().toString(36).slice(2)
  const channel = new BroadcastChannel('q-live')
  const wants = new Map<string, Want>()
  const leaving = new AbortController()
  let [leading, topics] = [false, [] as readonly Topic[]]
  const send = (message: Message) => channel.postMessage(message)

  function announce(): void {
    const want = { topics, hidden: document.hidden, at: Date.now() }
    wants.set(own, want)
    send({ kind: 'want', tab: own, want })
    judge()
  }

  function judge(): void {
    if (!leading) return
    for (const [tab, { at }] of wants) if (tab !== own && at < Date.now() - forgetAfterMs) wants.delete(tab)
    onWanted(new Set([...wants.values()].filter(({ hidden }) => !hidden).flatMap((want) => want.topics)))
  }

  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    switch (data.kind) {
      case 'want':
        if (leading && !wants.has(data.tab)) send({ kind: 'mode', mode: mode() })
        wants.set(data.tab, data.want)
        return judge()
      case 'gone':
        wants.delete(data.tab)
        return judge()
      case 'who':
        return announce()
      case 'frame':
        return onFrame(data.frame)
      case 'mode':
        return onMode(data.mode)
    }
  })
  document.addEventListener('visibilitychange', announce, { signal: leaving.signal })
  addEventListener('pagehide', () => send({ kind: 'gone', tab: own }), { signal: leaving.signal })
  const repeat = setInterval(announce, repeatMs)

  const lead = () => {
    leading = true
    send({ kind: 'who' })
    announce()
    return new Promise<void>((resolve) => leaving.signal.addEventListener('abort', () => resolve(), { once: true }))
  }
  // Locks exist on https and on loopback alone; elsewhere every tab has a stream of its own.
  if ('locks' in navigator) navigator.locks.request('q-live', { signal: leaving.signal }, lead).catch(() => {})
  else void lead()

  return {
    want(next) {
      topics = next
      announce()
    },
    passOn: (frame) => send({ kind: 'frame', frame }),
    passMode: (next) => send({ kind: 'mode', mode: next }),
    close() {
      send({ kind: 'gone', tab: own })
      clearInterval(repeat)
      leaving.abort()
      channel.close()
    },
  }
}
