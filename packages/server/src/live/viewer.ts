/**
 * One stream: its topics, and the revision of each that it has sent. It writes one frame at a time, and builds each
 * when the previous one was accepted.
 */
import { isExplained } from '@q/schema'
import type { Following, OutFrame } from './source.ts'
import type { Sink } from './sink.ts'
import type { LiveTopic } from './topic.ts'

export interface Viewer extends Following {
  follow(topic: LiveTopic<Viewer>): void
  readonly topics: Iterable<LiveTopic<Viewer>>
  /** Sends the missing changes. */
  pump(): void
  /** Sends a frame that belongs to no topic. */
  send(frame: OutFrame): void
  end(frame: OutFrame): void
}

interface Followed {
  sent: number
  isToldOld: boolean
}

export function createViewer(sink: Sink, runs: readonly string[]): Viewer {
  const followed = new Map<LiveTopic<Viewer>, Followed>()
  const extra: OutFrame[] = []
  let isWriting = false
  let isEnding = false
  let written = Promise.resolve()

  /** Resolves when everything was accepted. */
  function writeAll(): Promise<void> {
    if (!isWriting) written = write()
    return written
  }

  async function write(): Promise<void> {
    isWriting = true
    for (let frame = next(); frame !== undefined; frame = next()) await sink.write(textOf(frame))
    isWriting = false
  }

  const made: OutFrame[] = []
  function next(): OutFrame | undefined {
    for (const [topic, state] of followed) {
      if (isEnding || made.length > 0 || extra.length > 0) break
      made.push(...framesOf(topic, state, viewer))
    }
    return extra.shift() ?? made.shift()
  }

  const viewer: Viewer = {
    runs,
    get topics() {
      return followed.keys()
    },
    follow: (topic) => void followed.set(topic, { sent: 0, isToldOld: false }),
    pump: () => void writeAll(),
    send(frame) {
      extra.push(frame)
      void writeAll()
    },
    end(frame) {
      isEnding = true
      made.length = 0
      extra.push(frame)
      void writeAll().then(() => sink.end())
    },
  }
  return viewer
}

function framesOf(topic: LiveTopic<Viewer>, state: Followed, viewer: Viewer): OutFrame[] {
  if (topic.problem !== undefined) {
    if (state.isToldOld) return []
    // After an outage the viewer gets everything again, which shows it that the data is fresh.
    Object.assign(state, { sent: 0, isToldOld: true })
    return [oldFrame(topic)]
  }
  if (topic.revision <= state.sent) return []
  const since = state.sent
  Object.assign(state, { sent: topic.revision, isToldOld: false })
  return topic.source.framesSince(since, viewer)
}

function oldFrame({ source, problem }: LiveTopic<Viewer>): OutFrame {
  const error = problem?.error
  const [code, why] = isExplained(error)
    ? [error.code, error.message]
    : ['INTERNAL_ERROR', 'The server could not read the data.']
  const { name: topic, id = null } = source
  return { event: 'old', data: { topic, id, since: problem?.since ?? new Date(), code, why } }
}

function textOf({ event, data }: OutFrame): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
