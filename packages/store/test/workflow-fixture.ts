/** Workflows on their own database: short plans, steps that the test ends, and the resulting states. */
import type { StepPlan, Template, WorkflowPlan } from '@q/schema/workflow'
import { tasksOfPlan } from '@q/schema/workflow'
import type { ClaimedRun, Outcome, RunId, StepTask, Store, WorkflowId } from '@q/store'
import { by, fixture, leaseOf, type Fixture } from './fixture.ts'

export const succeeded: Outcome = { status: 'SUCCEEDED', result: '1' }
export const failed: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'on purpose' }

/** A template without references. */
export function plain(value: unknown = {}): Template {
  return { value, holes: {} }
}

type StepInput = Partial<Omit<Extract<StepPlan, { kind: 'task' }>, 'kind' | 'name'>>

/** A step that runs the task of its own name. */
export function step(name: string, after: readonly string[] = [], more: StepInput = {}): StepPlan {
  return { kind: 'task', name, task: name, payload: plain(), after, ...more }
}

export interface Started {
  readonly id: WorkflowId
  run(step: string): RunId
  /** Statuses of the steps, by name; with their codes where they did not succeed. */
  states(): Promise<Record<string, string>>
  status(): Promise<string>
  result(): Promise<unknown>
}

export interface WorkflowFixture extends Fixture {
  start(
    plan: Omit<WorkflowPlan, 'name'> & { name?: string },
    input?: unknown,
    tasks?: Record<string, Partial<StepTask>>,
  ): Promise<Started>
  started(id: WorkflowId): Promise<Started>
  /** Claims what is ready of the task. */
  take(task: string): Promise<ClaimedRun>
  end(task: string, outcome?: Outcome, on?: Store): Promise<RunId>
  endAll(task: string, outcome?: Outcome): Promise<number>
}

export async function workflowFixture(): Promise<WorkflowFixture> {
  const base = await fixture()
  const { store } = base
  const started = async (id: WorkflowId): Promise<Started> => {
    const ids = new Map((await store.listSteps(id)).map(({ name, runId }) => [name, runId]))
    const view = async () => (await store.getWorkflows([id]))[0]!
    return {
      id,
      run(name) {
        const runId = ids.get(name)
        if (runId === undefined) throw new Error(`no step ${name}`)
        return runId
      },
      async states() {
        const steps = await store.listSteps(id)
        return Object.fromEntries(
          steps.map(({ name, status, code }) => [name, code === null ? status : `${status} ${code}`]),
        )
      },
      status: async () => (await view()).status,
      result: async () => (await view()).result,
    }
  }
  const settle = async (run: ClaimedRun, outcome: Outcome, on: Store = store) => {
    const [answer] = await on.settleTaskRuns([{ lease: leaseOf(run), outcome, by }])
    if (answer !== 'settled') throw new Error(`${run.task}: ${answer}`)
  }
  return {
    ...base,
    started,
    async start(plan, input = {}, known = {}) {
      const tasks: Record<string, StepTask> = {}
      for (const task of tasksOfPlan(plan.steps)) {
        tasks[task] = { lane: await store.internLane({ queue: 'default', task }), ...known[task] }
      }
      const { id } = await store.startWorkflow({ plan: { name: 'test', ...plan }, input, tasks })
      return started(id)
    },
    take: (task) => base.claimOne(task),
    async end(task, outcome = succeeded, on = store) {
      const run = await base.claimOne(task)
      await settle(run, outcome, on)
      return run.runId
    },
    async endAll(task, outcome = succeeded) {
      const runs = await base.claim(task, 10_000)
      await store.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome, by })))
      return runs.length
    },
  }
}
