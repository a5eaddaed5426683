/** Workflows of marking tasks on a database of their own, and the checks of the marks they leave. */
import { onTestFinished } from 'vitest'
import type { StepPlan, WorkflowPlan } from '@q/schema/workflow'
import { tasksOfPlan } from '@q/schema/workflow'
import { connect, createStore, type StepTask, type Store, type WorkflowId, type WorkflowView } from '@q/store'
import { eventually } from './fixture.ts'
import type { Mark, Marks } from './marks.ts'

export function workflowsOf(url: string, marks: Marks) {
  const { db, close } = connect(url, { purpose: 'pool' })
  onTestFinished(close)
  const store = createStore(db)
  return {
    db,
    store,
    /** A step that marks when it began and when it had its effect. */
    step(name: string, after: readonly string[] = [], more: { ms?: number; thenDie?: boolean } = {}): StepPlan {
      const { ms = 10, ...others } = more
      const value = { file: marks.file, name, ms, ...others }
      return { kind: 'task', name, task: 'markAgain', after, payload: { value, holes: {} } }
    },
    async start(plan: Omit<WorkflowPlan, 'name'>, input: unknown = null): Promise<WorkflowId> {
      const tasks: Record<string, StepTask> = {}
      for (const task of tasksOfPlan(plan.steps)) {
        const lane = await store.internLane({ queue: 'default', task })
        tasks[task] = { lane, ...(task === 'markAgain' ? { onCrash: 'retry' as const } : {}) }
      }
      const { id } = await store.startWorkflow({ plan: { name: 'test', ...plan }, input, tasks })
      await store.wakeQueue('default')
      return id
    },
    ended: (id: WorkflowId, withinMs?: number) => endOf(store, id, withinMs),
    /** Nothing is left to repair. */
    faults: async () => (await store.repairWorkflows({ limit: 100 })).repaired,
  }
}

function endOf(store: Store, id: WorkflowId, withinMs = 60_000): Promise<WorkflowView> {
  return eventually(
    async () => {
      const [workflow] = await store.getWorkflows([id]).catch(() => [])
      return workflow === undefined || workflow.finishedAt === null ? undefined : workflow
    },
    `the end of workflow ${id}`,
    withinMs,
  )
}

/** Steps that began before as many of their parents had had their effect as they need. Marks are in the order in which they were made. */
export function tooEarly(marks: readonly Mark[], steps: readonly StepPlan[]): string[] {
  return steps.flatMap(({ name, after = [], join }) => {
    const began = marks.findIndex((mark) => mark.name === name && mark.what === 'began')
    const before = marks.slice(0, Math.max(0, began))
    const done = after.filter((parent) => before.some((mark) => mark.name === parent && mark.what === 'effect'))
    const needs = join?.kind === 'quorum' ? join.of : after.length
    return began !== -1 && done.length < needs ? `${name} after ${done.length} of ${needs}` : []
  })
}
