/**
 * Handles requests that a run's code sends to the main thread, because threads have no database connection: to save a
 * checkpoint or to enqueue a run.
 *
 * Both are written under the lease. If the lease is lost, nothing is written and the run is stopped. Requests of a run that
 * is being stopped are refused. A checkpoint is retried until the database answers, because repeating it is safe. An
 * enqueue is sent once: after a broken connection only the code can decide whether to repeat it (`ctx.once` helps).
 */
import { isExplained } from '@q/schema'
import { dueInMs, type Store } from '@q/store'
import type { ContextReply, ContextRequest, ExplainedProblem } from '../../protocol/messages.ts'
import type { Observe } from '../events.ts'
import type { FindRoute } from '../claim/task-routing.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import { retryUntilStored } from './retry-until-stored.ts'

export interface ContextRequestDeps {
  readonly store: Store
  readonly observe: Observe
  readonly routeOf: FindRoute
  /** Called when a run was enqueued, so that this replica can claim it at once. */
  readonly onEnqueued: () => void
}

export type ContextRequests = (monitor: RunMonitor, id: number, request: ContextRequest) => Promise<ContextReply>

export function createContextRequests(deps: ContextRequestDeps): ContextRequests {
  return async (monitor, id, request) => {
    if (monitor.stopReason !== undefined) return { id, ok: false, refusal: tooLate(monitor.stopReason) }
    try {
      return request.verb === 'checkpoint'
        ? await checkpoint(deps, monitor, id, request)
        : await enqueue(deps, monitor, id, request)
    } catch (error) {
      return { id, ok: false, refusal: refusalOf(error) }
    }
  }
}

type RequestFor<Verb> = Extract<ContextRequest, { verb: Verb }>

async function checkpoint(
  deps: ContextRequestDeps,
  monitor: RunMonitor,
  id: number,
  request: RequestFor<'checkpoint'>,
): Promise<ContextReply> {
  // The database would refuse the same state again, so a refusal is not retried.
  const save = () => deps.store.checkpointTaskRun(monitor.lease, request.state).catch(explained)
  const answer = await retryUntilStored(deps.observe, save, monitor.signal)
  if (answer instanceof Error) throw answer
  return answer === 'saved' ? { id, ok: true, value: '' } : leaseLost(monitor, id)
}

async function enqueue(
  { store, routeOf, onEnqueued }: ContextRequestDeps,
  monitor: RunMonitor,
  id: number,
  request: RequestFor<'enqueue'>,
): Promise<ContextReply> {
  const { task, delayMs, priority, trace } = request
  const payload: unknown = JSON.parse(request.payload)
  const { queue, settingsFor } = await routeOf(task)
  const newRun = {
    task,
    payload,
    ...settingsFor(payload),
    ...(delayMs === null ? {} : { delayMs }),
    ...(priority === null ? {} : { priority }),
    ...(trace === undefined ? {} : { trace }),
  }
  const enqueued = await store.enqueueUnderLease(monitor.lease, [newRun])
  if (enqueued === 'lease-lost') return leaseLost(monitor, id)
  const [run] = enqueued
  if (run === undefined) throw new Error('The enqueue returned no run.')
  const inMs = dueInMs(newRun, new Date())
  await (inMs === undefined ? store.wakeQueue(queue) : store.wakeDue(inMs)).catch(() => {}) // a hint
  onEnqueued()
  return { id, ok: true, value: run.id }
}

function leaseLost(monitor: RunMonitor, id: number): ContextReply {
  monitor.stop('lease lost')
  return { id, ok: false, refusal: tooLate('lease lost') }
}

function explained(error: unknown): Error {
  if (isExplained(error)) return error
  throw error
}

function tooLate(reason: string): ExplainedProblem {
  return {
    code: 'RUN_STOPPED',
    what: 'This run was stopped; nothing was written.',
    why: `A stop was requested: ${reason}.`,
    fix: 'Let the function end.',
  }
}

function refusalOf(error: unknown): ExplainedProblem {
  if (isExplained(error)) return { code: error.code, what: error.message, why: error.why, fix: error.fix }
  return {
    code: 'STORE_FAILED',
    what: 'The database did not store it.',
    why: error instanceof Error ? error.message : String(error),
    fix: 'Let the error reach q, so that the task’s retry policy applies; wrap the step in ctx.once() if it must not happen twice.',
  }
}
