/** Puts the live parts together: what components want, the tab that leads, its stream, and where frames go. */
import { connection } from './connection.ts'
import type { RawFrame } from './sse-parser.ts'
import { runStream } from './stream.ts'
import { joinTabs } from './tabs.ts'
import { streamPath, type Topic } from './topics.ts'

export interface LiveFrame {
  readonly event: string
  readonly data: unknown
}

/** Components come and go together when a page changes; the stream is opened again once. */
const settleMs = 80

const wanted = new Map<Topic, number>()
const listeners = new Set<(frame: LiveFrame) => void>()
let announce: () => void = () => {}

/** Returns how to stop wanting it. */
export function wantTopic(topic: Topic): () => void {
  wanted.set(topic, (wanted.get(topic) ?? 0) + 1)
  announce()
  return () => {
    const left = (wanted.get(topic) ?? 1) - 1
    if (left === 0) wanted.delete(topic)
    else wanted.set(topic, left)
    announce()
  }
}

export function onFrame(listener: (frame: LiveFrame) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Gives a frame to every listener. */
export function deliver(frame: LiveFrame): void {
  for (const listener of listeners) listener(frame)
}

/** Returns how to stop. */
export function startLive(): () => void {
  let [stream, path] = [new AbortController(), '']
  const receive = (frame: RawFrame) => {
    if (connection.get().frozenAt === null) deliver({ event: frame.event, data: JSON.parse(frame.data) as unknown })
  }
  const tabs = joinTabs({
    onFrame: receive,
    onMode: connection.setMode,
    mode: () => connection.get().mode,
    onWanted(topics) {
      const next = topics.size === 0 ? '' : streamPath(topics)
      if (next === path) return
      path = next
      stream.abort()
      stream = new AbortController()
      if (path === '') return
      const handlers = {
        onFrame: (frame: RawFrame) => (receive(frame), tabs.passOn(frame)),
        onMode: (mode: 'connecting' | 'live' | 'polling') => (connection.setMode(mode), tabs.passMode(mode)),
      }
      void runStream(path, handlers, stream.signal)
    },
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  announce = () => {
    clearTimeout(timer)
    timer = setTimeout(() => tabs.want([...wanted.keys()]), settleMs)
  }
  announce()
  return () => {
    clearTimeout(timer)
    stream.abort()
    tabs.close()
    announce = () => {}
  }
}
