/**
 * Workflows of any shape, under any order of ends, crashes, cancels, pauses and retries, some of them at the same moment by
 * two processes: after each, the invariants of workflow-invariants.ts hold, and the repair finds nothing to do.
 *
 *     Q_WORKFLOW_SEED=123 Q_WORKFLOW_RUNS=500 vitest run --project store workflow-model
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import type { ClaimedRun, Outcome, Store, WorkflowId } from '@q/store'
import { by, fixture, leaseOf } from '../fixture.ts'
import { brokenLaws, type ModelStep, type WorkflowSnapshot } from './workflow-invariants.ts'

const { store, another, db } = await fixture()
const others = [another(), another()] as const
const lane = await store.internLane({ queue: 'default', task: 'w' })
const numRuns = Number(process.env['Q_WORKFLOW_RUNS'] ?? 40)
const seed = Number(process.env['Q_WORKFLOW_SEED'] ?? Math.trunc(Math.random() * 2 ** 31))

const shape = fc.record({
  onError: fc.constantFrom('fail' as const, 'pause' as const, 'continue' as const),
  steps: fc.array(
    fc.record({
      parents: fc.array(fc.nat(6), { maxLength: 4 }),
      needs: fc.constantFrom('all' as const, 'all' as const, 'any' as const, 'quorum' as const),
      allowFailed: fc.boolean(),
    }),
    { minLength: 2, maxLength: 7 },
  ),
})

const deed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('work' as const),
      ends: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'crash' as const,
        'race-cancel' as const,
        'race-reap' as const,
        'cancel-step' as const,
        'pause' as const,
      ),
      ends: fc.array(fc.boolean(), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('resume' as const, 'retry-failed' as const, 'cancel' as const, 'release' as const),
      ends: fc.constant([true]),
    }),
  },
)

type Deed = typeof deed extends fc.Arbitrary<infer D> ? D : never
type Shape = typeof shape extends fc.Arbitrary<infer S> ? S : never

function graphOf({ steps }: Shape): ModelStep[] {
  return steps.map(({ parents, needs, allowFailed }, index) => {
    const names = [...new Set(parents.filter((parent) => parent < index).map((parent) => `s${parent}`))]
    const quorum = Math.ceil((names.length + 1) / 2)
    return {
      name: `s${index}`,
      parents: names,
      needs:
        names.length === 0 ? 0 : needs === 'all' ? names.length : needs === 'any' ? 1 : Math.min(quorum, names.length),
      allowFailed: allowFailed && index % 3 === 0,
    }
  })
}

function planOf({ name, parents, needs, allowFailed }: ModelStep): StepPlan {
  const join = parents.length === 0 ? { kind: 'all' as const } : { kind: 'quorum' as const, of: needs }
  return { kind: 'task', name, task: 'w', payload: { value: {}, holes: {} }, after: parents, join, allowFailed }
}

async function see(id: WorkflowId): Promise<WorkflowSnapshot> {
  const [[workflow], steps] = await Promise.all([store.getWorkflows([id]), store.listSteps(id)])
  return { workflow: workflow!, steps: new Map(steps.map((step) => [step.name, step])) }
}

const take = (replicaId: string, limit: number) =>
  store.claimAvailableTaskRuns({ replicaId, tasks: ['w'], queues: [], limit })

function settling(runs: readonly ClaimedRun[], ends: readonly boolean[]) {
  return runs.map((run, index) => {
    const outcome: Outcome =
      ends[index % ends.length] === true
        ? { status: 'SUCCEEDED', result: '1' }
        : { status: 'FAILED', code: 'TASK_ERROR', detail: '' }
    return { lease: leaseOf(run), outcome, by }
  })
}

/** Each half by another process, at the same moment. */
async function work(ends: readonly boolean[]): Promise<void> {
  const all = settling(await take('alive', ends.length), ends)
  const halves = [all.filter((_, index) => index % 2 === 0), all.filter((_, index) => index % 2 === 1)]
  await Promise.all(halves.map((half, index) => (others[index] as Store).settleTaskRuns(half)))
}

async function carryOut(id: WorkflowId, { do: what, ends }: Deed): Promise<void> {
  switch (what) {
    case 'work':
      return work(ends)
    case 'crash':
      await take('never-alive', ends.length)
      return void (await store.reap({ by: 'reaper' }))
    case 'race-cancel': {
      const runs = await take('alive', ends.length)
      const cancel = others[1].cancelTaskRuns(runs.map((run) => run.runId))
      return void (await Promise.all([
        others[0].settleTaskRuns(settling(runs, ends)),
        cancel,
        store.cancelWorkflow(id),
      ]))
    }
    case 'race-reap': {
      const runs = await take('never-alive', ends.length)
      return void (await Promise.all([
        others[0].settleTaskRuns(settling(runs, ends)),
        others[1].reap({ by: 'reaper' }),
        store.reap({ by: 'too' }),
      ]))
    }
    case 'cancel-step': {
      const step = (await store.listSteps(id)).find(({ status }) => status === 'PENDING' || status === 'AVAILABLE')
      return void (step !== undefined && (await store.cancelTaskRuns([step.runId])))
    }
    case 'pause':
      return void (await Promise.all([store.pauseWorkflow(id, 'model'), work(ends)]))
    case 'resume':
      return void (await store.resumeWorkflow(id))
    case 'retry-failed':
      return void (await store.retryFailedSteps(id))
    case 'cancel':
      return void (await store.cancelWorkflow(id))
    case 'release':
      return void (await store.releaseTaskRuns((await take('alive', 1)).map(leaseOf)))
  }
}

/** What was claimed and never settled, by a lost race, is ended; then everything that is left succeeds. */
async function toTheEnd(id: WorkflowId): Promise<void> {
  for (let round = 0; round < 30; round++) {
    const [workflow] = await store.getWorkflows([id])
    if (workflow!.status === 'PAUSED') await store.resumeWorkflow(id)
    else if (workflow!.finishedAt !== null) return
    await work([true, true, true])
  }
  throw new Error('It has no end.')
}

test(
  'the invariants of a workflow hold under random and concurrent changes of its steps',
  { timeout: 600_000 },
  async () => {
    const property = fc.asyncProperty(shape, fc.array(deed, { minLength: 2, maxLength: 14 }), async (form, deeds) => {
      const graph = graphOf(form)
      const plan = { name: 'model', onError: form.onError, steps: graph.map(planOf) }
      const { id } = await store.startWorkflow({ plan, input: null, tasks: { w: { lane } } })
      const letGo = new Set<string>()
      const judge = async (after: string) => {
        const seen = await see(id)
        expect(brokenLaws(graph, seen, letGo), `after ${after}`).toEqual([])
        for (const [name, { status, waitingFor }] of seen.steps) {
          if (status === 'PENDING' && waitingFor === 'parents') letGo.delete(name)
          else letGo.add(name)
        }
        expect((await store.repairWorkflows({ limit: 100 })).repaired, `after ${after}`).toEqual([])
      }
      try {
        await judge('start')
        for (const one of deeds) {
          await carryOut(id, one)
          await judge(JSON.stringify(one))
        }
        await toTheEnd(id)
        await judge('the end')
      } finally {
        await empty()
      }
    })
    await fc.assert(property, { seed, numRuns, endOnFailure: process.env['Q_MODEL_SHRINK'] === 'no' })
    console.log(`workflow model: seed ${seed}, ${numRuns} runs`)
  },
)

async function empty(): Promise<void> {
  for (const table of ['q.task_run', 'q.workflow', 'q.workflow_step', 'q.workflow_edge'] as const)
    await db.deleteFrom(table).execute()
}
