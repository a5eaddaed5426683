/**
 * All open streams and followed topics. The streams of all browsers share the topics; a topic ends, and queries the
 * database no longer, when its last viewer leaves.
 */
import type { ServerResponse } from 'node:http'
import { asRunId, type Store } from '@q/store'
import type { Frames, TopicName } from '../api/events.ts'
import { explainingSource } from './explaining.ts'
import { tooMany } from '../http/refusal.ts'
import type { Sent } from '../http/route-call.ts'
import { logSource } from './log-source.ts'
import { responseSink } from './sink.ts'
import { operationSource, runsSource, topicSource, workflowSource } from './sources.ts'
import type { Source } from './source.ts'
import { createTopic, type LiveTopic } from './topic.ts'
import { createViewer, type Viewer } from './viewer.ts'

export interface StreamRequest {
  readonly topics?: readonly TopicName[] | undefined
  readonly runs?: readonly string[] | undefined
  readonly log?: readonly string[] | undefined
  readonly workflow?: readonly string[] | undefined
  readonly operation?: readonly string[] | undefined
}

export interface StreamOwner {
  /** Name of the token. */
  readonly token: string
  readonly hello: Sent<Frames['hello']>
  /** Whether the token or session of the request would still be accepted. */
  readonly isAllowed: () => boolean
}

export interface Live {
  /** Refuses a stream above the limit; called before the response begins. */
  requireRoom(token: string): void
  open(response: ServerResponse, request: StreamRequest, of: StreamOwner): void
  /** Called after an action: refreshes all followed topics now. */
  lookNow(): void
  close(why: string): void
  readonly streams: number
  readonly topics: number
}

const streamsMax = 100
const streamsOfTokenMax = 20
const tickMs = 10_000
/** The longest time that a stream continues after its token or session became invalid. */
const checkMs = 1_000
/** Sent first, so that proxies and browsers see that the stream has begun. */
const padding = `: ${' '.repeat(2_048)}\n\n`

export function createLive(reads: Store, databaseUrl: string): Live {
  const viewers = new Map<Viewer, StreamOwner>()
  const topics = new Map<string, LiveTopic<Viewer>>()
  let timers: readonly NodeJS.Timeout[] = []

  function leave(viewer: Viewer): void {
    if (!viewers.delete(viewer)) return
    if (viewers.size === 0) timers.forEach((timer) => clearInterval(timer))
    const followed = new Set(viewer.topics)
    for (const [key, topic] of topics) if (followed.has(topic) && topic.remove(viewer) === 0) topics.delete(key)
  }

  function end(viewer: Viewer, why: string): void {
    viewer.end({ event: 'bye', data: { why } })
    leave(viewer)
  }

  function tick(): void {
    for (const viewer of viewers.keys()) viewer.send({ event: 'tick', data: { now: new Date() } })
  }

  function endForbidden(): void {
    for (const [viewer, { isAllowed }] of viewers)
      if (!isAllowed()) end(viewer, 'The token or session of this stream is no longer valid.')
  }

  function topicOf(key: string, source: () => Source): LiveTopic<Viewer> {
    const known = topics.get(key)
    if (known !== undefined) return known
    const pump = (all: Iterable<Viewer>) => [...all].forEach((viewer) => viewer.pump())
    const topic = createTopic<Viewer>(explainingSource(source(), databaseUrl), pump)
    topics.set(key, topic)
    return topic
  }

  return {
    get streams() {
      return viewers.size
    },
    get topics() {
      return topics.size
    },
    requireRoom(token) {
      const ofToken = [...viewers.values()].filter((owner) => owner.token === token).length
      if (viewers.size >= streamsMax) throw tooMany(`This server has ${streamsMax} open streams.`, 30)
      if (ofToken >= streamsOfTokenMax) throw tooMany(`The token "${token}" has ${streamsOfTokenMax} open streams.`, 30)
    },
    open(response, request, owner) {
      const sink = responseSink(response, () => leave(viewer))
      const viewer = createViewer(sink, request.runs ?? [])
      viewers.set(viewer, owner)
      if (viewers.size === 1) timers = [setInterval(tick, tickMs), setInterval(endForbidden, checkMs)]
      void sink.write(padding)
      viewer.send({ event: 'hello', data: owner.hello })
      for (const { key, source } of followedBy(request, reads)) {
        const topic = topicOf(key, source)
        viewer.follow(topic)
        topic.add(viewer)
      }
      viewer.pump()
    },
    lookNow: () => [...topics.values()].forEach((topic) => topic.lookNow()),
    close(why) {
      for (const viewer of viewers.keys()) end(viewer, why)
    },
  }
}

function followedBy(request: StreamRequest, reads: Store): { key: string; source: () => Source }[] {
  const { topics = [], runs = [], log = [], workflow = [], operation = [] } = request
  return [
    ...topics.map((name) => ({ key: name, source: () => topicSource(name, reads) })),
    ...(runs.length === 0 ? [] : [{ key: 'runs', source: () => runsSource(reads) }]),
    ...log.flatMap((place) => followedLog(place, reads)),
    ...workflow.map((id) => ({ key: `workflow ${id}`, source: () => workflowSource(id, reads) })),
    ...operation.map((id) => ({ key: `operation ${id}`, source: () => operationSource(id, reads) })),
  ]
}

function followedLog(place: string, reads: Store): { key: string; source: () => Source }[] {
  const [id = '', fence, lineNo] = place.split('.')
  const runId = asRunId(id)
  const known = fence === undefined ? null : { fence: Number(fence), lineNo: Number(lineNo) }
  return runId === undefined ? [] : [{ key: `log ${runId}`, source: () => logSource(runId, known, reads) }]
}
