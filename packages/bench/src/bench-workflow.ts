/**
 * What wide workflows cost, without code to execute: one step that lets many go, and one that waits for all of them; the
 * same as a map; one that fails before the others have begun. Claimed and settled in batches, as a replica does.
 */
import type { StepPlan, WorkflowPlan } from '@q/schema/workflow'
import { createStore, type Connection, type Outcome, type Store, type WorkflowId } from '@q/store'

export interface WorkflowFigure {
  readonly what: string
  readonly tookMs: number
  readonly steps: number
}

const by = { hostname: 'bench', pid: 1, thread: 0 }
const template = { value: {}, holes: {} }

export async function benchWorkflow(connection: Connection, width: number, batch: number): Promise<WorkflowFigure[]> {
  const store = createStore(connection.db)
  const names = ['first', 'wide', 'last']
  const lanes = await Promise.all(names.map((task) => store.internLane({ queue: 'bench', task })))
  const tasks = Object.fromEntries(names.map((task, place) => [task, { lane: lanes[place] ?? 0 }]))
  const figures: WorkflowFigure[] = []
  const timed = async <T>(what: string, steps: number, work: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    const done = await work()
    figures.push({ what, tookMs: performance.now() - began, steps })
    return done
  }
  const start = (plan: WorkflowPlan, input: unknown) => store.startWorkflow({ plan, input, tasks })

  const fan = await timed(`start, ${width} wide`, width + 2, () => start(fanPlan(width), null))
  await timed('looked at by the repair, all waiting', width, () => store.repairWorkflows({ limit: 100 }))
  await timed('the first ends and lets them go', width, () => endAll(store, 'first', batch))
  await timed(`claimed and settled, ${batch} at a time`, width, () => endAll(store, 'wide', batch))
  await timed('the last', 1, () => endAll(store, 'last', batch))
  await mustHave(store, fan.id, 'SUCCEEDED')

  const map = await start(mapPlan(), null)
  const list: Outcome = {
    status: 'SUCCEEDED',
    result: JSON.stringify(Array.from({ length: width }, (_, place) => place)),
  }
  await timed('a map makes its items', width, () => endAll(store, 'first', batch, list))
  await timed(`its items claimed and settled, ${batch} at a time`, width, () => endAll(store, 'wide', batch))
  await endAll(store, 'last', batch)
  await mustHave(store, map.id, 'SUCCEEDED')

  const failing = await start(fanPlan(width), null)
  const failed: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: '' }
  await timed('the first fails, the others are skipped', width + 1, () => endAll(store, 'first', batch, failed))
  await mustHave(store, failing.id, 'FAILED')

  const paused = await start(fanPlan(width), null)
  await endAll(store, 'first', batch)
  await timed('paused with all of them ready', width, () => store.pauseWorkflow(paused.id, 'bench'))
  await timed('resumed', width, () => store.resumeWorkflow(paused.id))
  await timed('looked at by the repair', width, () => store.repairWorkflows({ limit: 100 }))
  await timed('cancelled', width, () => store.cancelWorkflow(paused.id))
  return figures
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
  const wide = Array.from({ length: width }, (_, place): StepPlan => ({
    ...step(`wide ${place}`, 'wide'),
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
