/**
 * Measures the cost of wide workflows without code to execute: one step that releases many, and one that waits for all
 * of them; the same as a map; one that fails before the others have begun. Claimed and settled in batches, as a replica
 * does.
 */
import type { StepPlan, WorkflowPlan } from '@q/schema/workflow'
import { createStore, type Connection, type Outcome, type Store, type WorkflowId } from '@q/store'

export const workflowStages = [
  'start',
  'repair reads them, all waiting',
  'the first step ends and releases them',
  'claimed and settled',
  'the last step',
  'a map creates its items',
  'its items claimed and settled',
  'the first step fails, the others are skipped',
  'paused',
  'resumed',
  'repair reads them, all ready',
  'cancelled',
] as const

type Stage = (typeof workflowStages)[number]

const by = { hostname: 'bench', pid: 1, thread: 0 }
const template = { value: {}, holes: {} }

/** Milliseconds per stage. */
export async function runWorkflows(
  connection: Connection,
  width: number,
  batch: number,
): Promise<Record<Stage, number>> {
  const store = createStore(connection.db)
  const names = ['first', 'wide', 'last']
  const lanes = await Promise.all(names.map((task) => store.internLane({ queue: 'bench', task })))
  const tasks = Object.fromEntries(names.map((task, index) => [task, { lane: lanes[index] ?? 0 }]))
  const tookMs: Partial<Record<Stage, number>> = {}
  const timed = async <T>(stage: Stage, work: () => Promise<T>): Promise<T> => {
    const begunMs = performance.now()
    const done = await work()
    tookMs[stage] = performance.now() - begunMs
    return done
  }
  const start = (plan: WorkflowPlan, input: unknown) => store.startWorkflow({ plan, input, tasks })

  const fan = await timed('start', () => start(fanPlan(width), null))
  await timed('repair reads them, all waiting', () => store.repairWorkflows({ limit: 100 }))
  await timed('the first step ends and releases them', () => endAll(store, 'first', batch))
  await timed('claimed and settled', () => endAll(store, 'wide', batch))
  await timed('the last step', () => endAll(store, 'last', batch))
  await mustHave(store, fan.id, 'SUCCEEDED')

  const map = await start(mapPlan(), null)
  const list: Outcome = {
    status: 'SUCCEEDED',
    result: JSON.stringify(Array.from({ length: width }, (_, index) => index)),
  }
  await timed('a map creates its items', () => endAll(store, 'first', batch, list))
  await timed('its items claimed and settled', () => endAll(store, 'wide', batch))
  await endAll(store, 'last', batch)
  await mustHave(store, map.id, 'SUCCEEDED')

  const failing = await start(fanPlan(width), null)
  const failed: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: '' }
  await timed('the first step fails, the others are skipped', () => endAll(store, 'first', batch, failed))
  await mustHave(store, failing.id, 'FAILED')

  const paused = await start(fanPlan(width), null)
  await endAll(store, 'first', batch)
  await timed('paused', () => store.pauseWorkflow(paused.id, 'bench'))
  await timed('resumed', () => store.resumeWorkflow(paused.id))
  await timed('repair reads them, all ready', () => store.repairWorkflows({ limit: 100 }))
  await timed('cancelled', () => store.cancelWorkflow(paused.id))
  return tookMs as Record<Stage, number>
}

async function endAll(
  store: Store,
  task: string,
  batch: number,
  outcome: Outcome = { status: 'SUCCEEDED', result: '1' },
): Promise<void> {
  for (;;) {
    const runs = await store.claimAvailableTaskRuns({ replicaId: 'bench', tasks: [task], queues: [], limit: batch })
    if (runs.length === 0) return
    await store.settleTaskRuns(runs.map(({ runId, fence }) => ({ lease: { runId, fence }, outcome, by })))
  }
}

async function mustHave(store: Store, id: WorkflowId, status: string): Promise<void> {
  const [workflow] = await store.getWorkflows([id])
  if (workflow?.status !== status) throw new Error(`The workflow is ${workflow?.status}, not ${status}.`)
}

function fanPlan(width: number): WorkflowPlan {
  const wide = Array.from({ length: width }, (_, index): StepPlan => ({
    ...step(`wide ${index}`, 'wide'),
    after: ['first'],
  }))
  return {
    name: 'fan',
    steps: [step('first', 'first'), ...wide, { ...step('last', 'last'), after: wide.map(({ name }) => name) }],
  }
}

function mapPlan(): WorkflowPlan {
  const map: StepPlan = {
    kind: 'map',
    name: 'map',
    task: 'wide',
    over: { from: 'step', step: 'first', at: '' },
    payload: { value: null, holes: { '': { from: 'item', at: '' } } },
  }
  return { name: 'map', steps: [step('first', 'first'), map, { ...step('last', 'last'), after: ['map'] }] }
}

function step(name: string, task: string): StepPlan {
  return { kind: 'task', name, task, payload: template }
}
