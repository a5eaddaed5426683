/** Writes frames of the stream into the cache of answers, under the path whose answer they renew. */
import type { QueryClient } from '@tanstack/react-query'
import type { Items, Node, Operation } from '../api/contract.ts'
import { isDatabaseAway } from '../api/problem.ts'
import type { RunTick, StepView, WorkflowView } from '../api/run-contract.ts'
import { connection } from './connection.ts'
import { onFrame } from './live.ts'
import { keepTick } from './run-ticks.ts'
import { setServerTime } from './server-clock.ts'

interface NodesFrame {
  readonly changed: readonly Node[]
  readonly gone: readonly string[]
  /** There are no other living nodes; `gone` does not name those that left before the stream began. */
  readonly snapshot?: boolean
}

interface OldFrame {
  readonly topic: string
  readonly id: string | null
  readonly code: string
  readonly why: string
  readonly since: string
}

export const allNodes = '/nodes?stopped=true'

export function applyFrames(cache: QueryClient): () => void {
  return onFrame(({ event, data }) => {
    if (event === 'tick' || event === 'hello') setServerTime((data as { now: string }).now)
    if (event === 'old') return takeOld(data as OldFrame)
    connection.becameFresh(event === 'hello' ? undefined : topicOf(event, data))
    switch (event) {
      case 'hello':
        return void cache.setQueryData(['/session'], (old: object | undefined) => ({ ...old, ...(data as object) }))
      case 'overview':
      case 'queues':
      case 'attention':
        cache.setQueryData([`/${event}`], data)
        return connection.answered(readAt(data))
      case 'nodes':
        mergeNodes(cache, data as NodesFrame)
        return connection.answered(readAt(data))
      case 'run':
        keepTick(data as RunTick)
        return connection.answered()
      case 'workflow': {
        const { workflow, steps } = data as { workflow: WorkflowView; steps: readonly StepView[] }
        cache.setQueryData([`/workflows/${workflow.id}`], workflow)
        return mergeSteps(cache, workflow.id, steps)
      }
      case 'operation':
        return void cache.setQueryData([`/operations/${(data as Operation).id}`], data)
    }
  })
}

/** When the server read the data of a frame; undefined: now. */
function readAt(data: unknown): number | undefined {
  const { at } = data as { at?: string }
  return at === undefined ? undefined : Date.parse(at)
}

/** Only the topic of the frame is old, unless the database is away. */
function takeOld({ topic, id, code, why, since }: OldFrame): void {
  if (isDatabaseAway(code)) return connection.lost('database', why, since)
  const name = id === null ? topic : `${topic} ${id}`
  connection.becameOld(name, { name, why, since })
}

/** The topic that a frame renews, as `old` frames name it. */
function topicOf(event: string, data: unknown): string {
  switch (event) {
    case 'log':
      return `log ${(data as { runId: string }).runId}`
    case 'workflow':
      return `workflow ${(data as { workflow: WorkflowView }).workflow.id}`
    case 'operation':
      return `operation ${(data as Operation).id}`
    default:
      return event
  }
}

/** A node that is gone from the living is read again, because it may be among the stopped ones now. */
function mergeNodes(cache: QueryClient, { changed, gone, snapshot = false }: NodesFrame): void {
  let isAnyGone = gone.length > 0
  cache.setQueryData([allNodes], (old: Items<Node> | undefined) => {
    if (old === undefined) return undefined
    const byId = new Map(changed.map((node) => [node.id, node]))
    isAnyGone ||= snapshot && old.items.some(({ id, state }) => state !== 'stopped' && !byId.has(id))
    const items = old.items.map((node) => {
      const fresh = byId.get(node.id)
      byId.delete(node.id)
      return fresh === undefined ? node : { ...node, ...fresh }
    })
    return { ...old, items: [...items, ...byId.values()] }
  })
  if (isAnyGone) void cache.invalidateQueries({ queryKey: [allNodes] })
}

/** The frame has the steps that changed. */
function mergeSteps(cache: QueryClient, id: string, changed: readonly StepView[]): void {
  cache.setQueryData([stepsOf(id)], (old: Items<StepView> | undefined) => {
    if (old === undefined) return undefined
    const byRun = new Map(changed.map((step) => [step.runId, step]))
    const items = old.items.map((step) => byRun.get(step.runId) ?? step)
    const known = new Set(old.items.map(({ runId }) => runId))
    return { ...old, items: [...items, ...changed.filter(({ runId }) => !known.has(runId))] }
  })
}

export function stepsOf(workflow: string): string {
  return `/workflows/${workflow}/steps?limit=1000`
}
