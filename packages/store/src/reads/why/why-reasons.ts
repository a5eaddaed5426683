/** The reasons why a run is not running, as data and as sentences. Pure. */
import type { TaskState } from '@q/schema'
import { dateMsMax } from '../../clock.ts'
import type { RunId } from '../../lease.ts'
import type { NodeState } from '../../replicas/alive.ts'
import { inWords } from '../words.ts'

export type Reason =
  | { readonly reason: 'ended'; readonly status: TaskState; readonly code: string | null; readonly agoMs: number }
  | {
      readonly reason: 'held'
      readonly status: 'CLAIMED' | 'RUNNING'
      readonly replicaId: string
      /** Null: no such replica is known. */
      readonly name: string | null
      readonly state: NodeState | 'unknown'
      readonly forMs: number
      readonly cancelRequested: boolean
    }
  /** Its deadline has passed; the sweep will end it. */
  | { readonly reason: 'expired'; readonly agoMs: number }
  | { readonly reason: 'parents'; readonly open: number }
  /** Held until its workflow is resumed. */
  | {
      readonly reason: 'workflow-paused'
      readonly workflowId: string
      readonly name: string
      readonly by: string | null
    }
  /** It was enqueued before its task was published; the next sweep of a replica opens the gate. */
  | { readonly reason: 'task-gate'; readonly task: string; readonly publishedBy: string }
  /** `due`: its time has come, and a replica has yet to promote it. */
  | { readonly reason: 'time'; readonly until: Date; readonly inMs: number; readonly due: boolean }
  | {
      readonly reason: 'concurrency'
      readonly scope: string
      readonly key: string
      /** False: its queue is paused or no replica serves it, so it gets no slot of the key. */
      readonly canStart: boolean
      readonly limit: number
      readonly free: number
      readonly holders: readonly KeyHolder[]
      /** Runs that wait for the key, can start and come first; bounded. */
      readonly ahead: number
    }
  /** Its lane does not exist: the row was inserted manually. */
  | { readonly reason: 'lane-missing' }
  | { readonly reason: 'queue-paused'; readonly queue: string; readonly by: string | null; readonly forMs: number }
  | { readonly reason: 'no-replica' }
  /** No replica has published the task. */
  | { readonly reason: 'task-unpublished'; readonly task: string }
  /** Replicas are alive, but none of them knows the task. */
  | { readonly reason: 'task-unknown'; readonly task: string; readonly alive: number }
  | { readonly reason: 'queue-unserved'; readonly queue: string; readonly alive: number }
  | {
      readonly reason: 'capabilities-missing'
      readonly requires: readonly string[]
      /** The capabilities that the closest replica lacks. */
      readonly missing: readonly string[]
      readonly closest: string
    }
  | { readonly reason: 'all-draining'; readonly nodes: readonly string[] }
  | {
      /** Nothing blocks it: a claim takes it when its turn comes. */
      readonly reason: 'ready'
      /** Runs of its queue and task that go first: of lower priority numbers, or older of its group; bounded. */
      readonly ahead: number
      /** Free slots of the replicas that may take it, as of their last heartbeats. */
      readonly freeSlots: number
      readonly nodes: readonly string[]
    }

export interface KeyHolder {
  readonly runId: RunId
  readonly status: TaskState
  readonly replicaId: string | null
  /** Null: it is no longer known. */
  readonly replicaName: string | null
}

/** Runs ahead are counted up to this number. */
export const aheadMax = 1_000

export function sentenceOf(reason: Reason): string {
  switch (reason.reason) {
    case 'ended':
      return `It ended ${inWords(reason.agoMs)} ago: ${reason.status}${reason.code === null ? '' : ` (${reason.code})`}.`
    case 'held':
      return heldSentence(reason)
    case 'expired':
      return `Its deadline passed ${inWords(reason.agoMs)} ago; it will be marked EXPIRED at the next sweep.`
    case 'parents':
      return `It waits for ${reason.open} parent${reason.open === 1 ? '' : 's'}.`
    case 'workflow-paused':
      return `Its workflow ${reason.workflowId} (${reason.name}) is paused${reason.by === null ? '' : ` by ${reason.by}`}.`
    case 'task-gate':
      return `Replica ${reason.publishedBy} has published its task ${reason.task} in the meantime; the next sweep of a replica opens the gate.`
    case 'time':
      return timeSentence(reason)
    case 'concurrency':
      return keySentence(reason)
    case 'lane-missing':
      return 'Its lane does not exist, so no claim can find it: the row was inserted manually.'
    case 'queue-paused':
      return `The queue ${reason.queue} was paused ${inWords(reason.forMs)} ago${reason.by === null ? '' : ` by ${reason.by}`}.`
    case 'no-replica':
      return 'No node is alive.'
    case 'task-unpublished':
      return `No node has published this task: ${reason.task}.`
    case 'task-unknown':
      return noneOf(reason.alive, `know the task ${reason.task}`)
    case 'queue-unserved':
      return noneOf(reason.alive, `serve the queue ${reason.queue}`)
    case 'capabilities-missing':
      return `It requires ${reason.requires.join(', ')}; ${reason.closest} comes closest and lacks ${reason.missing.join(', ')}.`
    case 'all-draining':
      return `Every node that could take it is draining: ${reason.nodes.join(', ')}.`
    case 'ready':
      return readySentence(reason)
  }
}

function timeSentence({ due, until, inMs }: Extract<Reason, { reason: 'time' }>): string {
  if (due) return `It was due ${inWords(-inMs)} ago; a node has yet to promote it.`
  if (inMs >= dateMsMax) return 'It is parked: SQL has set its run_at to infinity.'
  return `It waits until ${until.toISOString()}, in ${inWords(inMs)}.`
}

function heldSentence(reason: Extract<Reason, { reason: 'held' }>): string {
  const holder = reason.name ?? reason.replicaId
  const verb = reason.status === 'RUNNING' ? 'It has been running on' : 'It has been claimed by'
  const state = reason.state === 'alive' ? '' : ` (${reason.state})`
  const cancel = reason.cancelRequested ? ' A cancel was requested.' : ''
  return `${verb} ${holder}${state} for ${inWords(reason.forMs)}.${cancel}`
}

function keySentence(reason: Extract<Reason, { reason: 'concurrency' }>): string {
  const { key, canStart, limit, free, ahead, holders } = reason
  if (!canStart) return `It gets no slot of its concurrency key ${key} while it cannot start.`
  if (free > ahead) return `Its concurrency key ${key} has a free slot; a node has yet to promote it.`
  const held = holders.map(
    ({ runId, status, replicaId, replicaName }) =>
      `${runId} (${[status, replicaName ?? replicaId ?? []].flat().join(' on ')})`,
  )
  const by = held.length === 0 ? '' : `, held by ${held.join(', ')}`
  return `It waits for its concurrency key ${key} (limit ${limit}${by}); ${counted(ahead)} ahead of it.`
}

function readySentence(reason: Extract<Reason, { reason: 'ready' }>): string {
  const { ahead, freeSlots, nodes } = reason
  const slots = freeSlots === 0 ? 'no slot is' : freeSlots === 1 ? '1 slot is' : `${freeSlots} slots are`
  return `It is ready: ${counted(ahead)} ahead of it, and ${slots} free on ${nodes.join(', ')}.`
}

function noneOf(alive: number, verbAndObject: string): string {
  return alive === 1
    ? `The only live node does not ${verbAndObject}.`
    : `The ${alive} live nodes do not ${verbAndObject}.`
}

function counted(runs: number): string {
  if (runs === 0) return 'no run is'
  return runs >= aheadMax ? `at least ${aheadMax} runs are` : runs === 1 ? '1 run is' : `${runs} runs are`
}
