/**
 * What a run's code asks of the store while it runs: its checkpoint, and runs of its own. Threads have no database; they
 * ask here, and are answered.
 *
 * Requests of a run that is being stopped are refused. Both are written under the lease: under a lost lease nothing is
 * written, and the run is stopped. A checkpoint is sent until the database answers: repeating it is safe. An enqueue is
 * sent once: after a broken connection only the code can decide whether to repeat it (`once` helps).
 */
import { isExplained } from '@q/schema'
import { dueInMs, type Store } from '@q/store'
import type { Answer, Ask, Problem } from '../protocol.ts'
import type { Observe } from './events.ts'
import type { FindDestination } from './published.ts'
import type { Pulse } from './pulse-board.ts'
import { untilReached } from './until-reached.ts'

export interface RequestDeps {
  readonly store: Store
  readonly observe: Observe
  readonly findDestination: FindDestination
  /** Something became ready: this replica may look at once. */
  readonly onEnqueued: () => void
}

export type Requests = (pulse: Pulse, id: number, ask: Ask) => Promise<Answer>

export function createRequests(deps: RequestDeps): Requests {
  return async (pulse, id, ask) => {
    if (pulse.stopReason !== undefined) return { id, ok: false, refusal: tooLate(pulse.stopReason) }
    try {
      return ask.verb === 'checkpoint' ? await checkpoint(deps, pulse, id, ask) : await enqueue(deps, pulse, id, ask)
    } catch (error) {
      return { id, ok: false, refusal: refusalOf(error) }
    }
  }
}

type AskTo<Verb> = Extract<Ask, { verb: Verb }>

async function checkpoint(deps: RequestDeps, pulse: Pulse, id: number, ask: AskTo<'checkpoint'>): Promise<Answer> {
  // What the database refuses it would refuse again.
  const save = () => deps.store.checkpointTaskRun(pulse.lease, ask.state).catch(explained)
  const answer = await untilReached(deps.observe, save, pulse.signal)
  if (answer instanceof Error) throw answer
  return answer === 'saved' ? { id, ok: true, value: '' } : leaseLost(pulse, id)
}

async function enqueue(
  { store, findDestination, onEnqueued }: RequestDeps,
  pulse: Pulse,
  id: number,
  ask: AskTo<'enqueue'>,
): Promise<Answer> {
  const { task, delayMs, priority } = ask
  const payload: unknown = JSON.parse(ask.payload)
  const { queue, settingsFor } = await findDestination(task)
  const newRun = {
    task,
    payload,
    ...settingsFor(payload),
    ...(delayMs === null ? {} : { delayMs }),
    ...(priority === null ? {} : { priority }),
  }
  const enqueued = await store.enqueueUnderLease(pulse.lease, [newRun])
  if (enqueued === 'lease-lost') return leaseLost(pulse, id)
  const [run] = enqueued
  if (run === undefined) throw new Error('The database accepted a run and named none.')
  const inMs = dueInMs(newRun, new Date())
  await (inMs === undefined ? store.wakeQueue(queue) : store.wakeDue(inMs)).catch(() => {}) // a hint
  onEnqueued()
  return { id, ok: true, value: run.id }
}

function leaseLost(pulse: Pulse, id: number): Answer {
  pulse.stop('lease lost')
  return { id, ok: false, refusal: tooLate('lease lost') }
}

function explained(error: unknown): Error {
  if (isExplained(error)) return error
  throw error
}

function tooLate(reason: string): Problem {
  return {
    code: 'RUN_STOPPED',
    what: 'This run was stopped; nothing was written.',
    why: `It was told to stop: ${reason}.`,
    fix: 'Let the function end.',
  }
}

function refusalOf(error: unknown): Problem {
  if (isExplained(error)) return { code: error.code, what: error.message, why: error.why, fix: error.fix }
  return {
    code: 'STORE_FAILED',
    what: 'The database did not take it.',
    why: error instanceof Error ? error.message : String(error),
    fix: 'Throw, and let the task’s retry try again; wrap the step in ctx.once() if it must not be done twice.',
  }
}
