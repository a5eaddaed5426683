/** The type of an output is true: graphs of all kinds are run, with failures and conditions, and what succeeded is looked at. */
import { afterAll, expect, test } from 'vitest'
import { queue, task, workflow, type Join, type Ref, type Workflow, type WorkflowHandle } from '@q/client'
import { fixture } from './fixture.ts'

const act = task(({ name }: { name: string; fails: boolean }) => name)
const { url, store } = await fixture()
const q = queue(url, { tasks: { act } })
afterAll(() => q.close())

interface Node {
  readonly parents: readonly number[]
  readonly how: { readonly join?: Join; readonly allowFailed?: boolean }
  /** Its condition does not hold. */
  readonly isRefused: boolean
  readonly fails: boolean
}

const hows: readonly Node['how'][] = [{}, {}, { join: 'any' }, { join: { quorum: 2 } }, { allowFailed: true }]

/** Always the same ones. */
function graphs(count: number): Node[][] {
  let seed = 7
  const upTo = (end: number) => (seed = (seed * 48_271) % 2_147_483_647) % end
  const node = (place: number): Node => {
    const parents = Array.from({ length: place }, (_, parent) => parent).filter(() => upTo(2) === 0)
    const how = parents.length < 2 ? (upTo(3) === 0 && parents.length > 0 ? { allowFailed: true } : {}) : hows[upTo(5)]!
    return { parents, how, isRefused: upTo(5) === 0, fails: upTo(4) === 0 }
  }
  return Array.from({ length: count }, () => Array.from({ length: 6 }, (_, place) => node(place)))
}

/** `shown`: places of the steps in its output. */
function defined(graph: readonly Node[], shown: readonly number[]): Workflow<{ yes: boolean }, Record<string, string>> {
  return workflow<{ act: typeof act }>()('any', ({ step, is }, input: Ref<{ yes: boolean }>) => {
    const steps: ReturnType<typeof step<'act'>>[] = []
    for (const [place, { parents, how, isRefused, fails }] of graph.entries()) {
      const when = isRefused ? { when: is(input.yes) } : {}
      const after = parents.map((parent) => steps[parent]!)
      steps.push(step('act', { name: `s${place}`, fails }, { name: `s${place}`, after, ...how, ...when }))
    }
    return Object.fromEntries(shown.map((place) => [`s${place}`, steps[place]!]))
  })
}

function isAccepted(define: () => unknown): boolean {
  try {
    define()
    return true
  } catch {
    return false
  }
}

async function workAll(): Promise<void> {
  for (;;) {
    const runs = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['act'], queues: [], limit: 1_000 })
    if (runs.length === 0) return
    await store.settleTaskRuns(
      runs.map(({ runId, fence, payload }) => {
        const { name, fails } = JSON.parse(payload) as { name: string; fails: boolean }
        const outcome = fails
          ? ({ status: 'FAILED', code: 'TASK_ERROR', detail: 'on purpose' } as const)
          : ({ status: 'SUCCEEDED', result: JSON.stringify(name) } as const)
        return { lease: { runId, fence }, outcome, by: { hostname: 'h', pid: 1, thread: 0 } }
      }),
    )
  }
}

test('when a workflow succeeds, every result that its output requires exists', async () => {
  const started: { run: WorkflowHandle<Record<string, string>>; sure: readonly string[] }[] = []
  for (const graph of graphs(150)) {
    const sure = graph
      .keys()
      .toArray()
      .filter((place) => isAccepted(() => defined(graph, [place])))
    const run = await q.start(defined(graph, sure), { yes: false })
    started.push({ run, sure: sure.map((place) => `s${place}`) })
  }
  await workAll()
  const ended = await Promise.all(started.map(async ({ run, sure }) => ({ ...(await run.status()), sure })))
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['SUCCEEDED', 'FAILED']))
  const succeeded = ended.filter(({ status }) => status === 'SUCCEEDED')
  expect(succeeded.map(({ result }) => result)).toEqual(
    succeeded.map(({ sure }) => Object.fromEntries(sure.map((name) => [name, name]))),
  )
  // The law is not empty: many succeed, and not everything is sure.
  expect(succeeded.length).toBeGreaterThan(20)
  expect(succeeded.some(({ sure }) => sure.length < 6)).toBe(true)
})
