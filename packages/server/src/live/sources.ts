/** The sources of the common topics, and of single runs, workflows and operations. */
import { asRunId, asWorkflowId, type RunId, type Store } from '@q/store'
import type { Frames, TopicName } from '../api/events.ts'
import type { Sent } from '../http/route-call.ts'
import { createKeyed } from './keyed.ts'
import type { OutFrame, Source } from './source.ts'

/** The time of a frame is that of this server, as in `hello` and `tick`: the clock of the database may differ. */
export function topicSource(name: TopicName, reads: Store): Source {
  switch (name) {
    case 'nodes':
      return nodesSource(reads)
    case 'overview':
      return wholeSource('overview', 2_000, async () => ({ ...(await reads.overview()), at: new Date() }))
    case 'queues':
      return wholeSource('queues', 2_000, async () => ({ at: new Date(), items: await reads.listQueues() }))
    case 'attention':
      return wholeSource('attention', 5_000, async () => ({ ...(await reads.attention()), at: new Date() }))
  }
}

/** Sent completely whenever it differs in more than the time of reading. */
function wholeSource<Name extends keyof Frames>(
  name: Name,
  everyMs: number,
  read: () => Promise<Sent<Frames[Name]> | undefined>,
): Source {
  let latest: { data: Sent<Frames[Name]>; text: string } | undefined
  return {
    name,
    everyMs,
    async look() {
      const data = await read()
      if (data === undefined) return false
      const text = JSON.stringify({ ...data, at: undefined })
      const isSame = latest?.text === text
      // Even if nothing changed: a viewer that comes later learns when this was read.
      latest = { data, text }
      return !isSame
    },
    framesSince: () => (latest === undefined ? [] : [{ event: name, data: latest.data } as OutFrame]),
  }
}

type LiveNode = Sent<Frames['nodes']['changed'][number]>

/** How far two looks may differ about the time of one heartbeat, beside the time that the looks took. */
const beatMsMax = 250

/** The age of a heartbeat always grows; only a new heartbeat counts as a change. */
function nodesSource(reads: Store): Source {
  let at = new Date()
  const nodes = createKeyed<{ node: LiveNode; text: string; beatAt: number; lookMs: number }>(
    ({ node }) => String(node.id),
    (a, b) => a.text === b.text && Math.abs(a.beatAt - b.beatAt) < beatMsMax + a.lookMs + b.lookMs,
  )
  return {
    name: 'nodes',
    everyMs: 1_000,
    async look(revision) {
      const begun = Date.now()
      const seen = await reads.listNodes()
      at = new Date()
      const lookMs = at.getTime() - begun
      const items = seen.map((node) => ({
        node,
        text: JSON.stringify({ ...node, beatAgeMs: undefined }),
        beatAt: at.getTime() - (node.beatAgeMs ?? 0),
        lookMs,
      }))
      return nodes.update(items, revision)
    },
    framesSince(revision) {
      const { changed, gone } = nodes.since(revision)
      const data = { at, snapshot: revision === 0, changed: changed.map(({ node }) => node), gone }
      return [{ event: 'nodes', data }]
    },
  }
}

export function operationSource(id: string, reads: Store): Source {
  return { ...wholeSource('operation', 1_000, () => reads.getOperation(id)), id }
}

/** Sends changed steps; the first frame has all steps. */
export function workflowSource(id: string, reads: Store): Source {
  type Step = Sent<Frames['workflow']['steps'][number]>
  const steps = createKeyed<Step>(
    (step) => String(step.runId),
    (a, b) => JSON.stringify(a) === JSON.stringify(b),
  )
  let latest: Sent<Frames['workflow']['workflow']> | undefined
  return {
    name: 'workflow',
    id,
    everyMs: 1_000,
    async look(revision) {
      const workflowId = asWorkflowId(id)
      const [workflow] = workflowId === undefined ? [] : await reads.getWorkflows([workflowId])
      if (workflowId === undefined || workflow === undefined) return false
      const isOther = JSON.stringify(latest) !== JSON.stringify(workflow)
      latest = workflow
      return steps.update(await reads.listSteps(workflowId), revision) || isOther
    },
    framesSince(revision) {
      if (latest === undefined) return []
      return [{ event: 'workflow', data: { at: new Date(), workflow: latest, steps: steps.since(revision).changed } }]
    },
  }
}

const ticksMax = 500

/** Reads all followed runs in as few statements as possible. */
export function runsSource(reads: Store): Source {
  type Tick = Sent<Frames['run']>
  const ticks = createKeyed<Tick>(
    (tick) => String(tick.id),
    (a, b) =>
      JSON.stringify({ ...a, beatAgeMs: null }) === JSON.stringify({ ...b, beatAgeMs: null }) &&
      (b.beatAgeMs ?? 0) >= (a.beatAgeMs ?? 0),
  )
  return {
    name: 'run',
    everyMs: 1_000,
    async look(revision, viewers) {
      const followed = new Set([...viewers].flatMap(({ runs }) => runs))
      const ids = [...followed].map(asRunId).filter((id): id is RunId => id !== undefined)
      const found: Tick[] = []
      for (let from = 0; from < ids.length; from += ticksMax)
        found.push(...(await reads.runTicks(ids.slice(from, from + ticksMax))))
      return ticks.update(found, revision)
    },
    framesSince: (revision, { runs }) =>
      ticks
        .since(revision)
        .changed.filter(({ id }) => runs.includes(String(id)))
        .map((data) => ({ event: 'run', data })),
  }
}
