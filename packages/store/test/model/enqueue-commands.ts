/** Producers: one run, two at once with one unique key, and one whose producer dies before it has promoted. */
import * as fc from 'fast-check'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from '@q/store'
import { command, often, same, type Command, type Real } from './command.ts'
import { fill, type Model, type ModelRun } from './model.ts'
import { minute, replicas, scope, tasks } from './world.ts'

interface Wish {
  readonly task: (typeof tasks)[number]
  readonly delay: number | null
  readonly expiresIn: number | null
  readonly key: string | null
  readonly uniqueKey: string | null
  readonly priority: number
  readonly maxAttempts: number
  readonly onCrash: 'fail' | 'retry' | null
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  task: fc.constantFrom(...tasks),
  delay: fc.constantFrom(null, null, null, 20),
  expiresIn: fc.constantFrom(null, null, null, 40),
  key: fc.constantFrom(null, 'a', 'a', 'a', 'b'),
  uniqueKey: fc.constantFrom(null, null, null, 'u'),
  priority: fc.constantFrom(0, 0, 0, -1),
  maxAttempts: fc.constantFrom(1, 2),
  onCrash: fc.constantFrom(null, 'fail', 'retry'),
})
const producers = fc.constantFrom(...replicas.map((replica) => replica.id))

export const enqueueCommands: fc.Arbitrary<Command>[] = [
  ...often(
    5,
    fc.tuple(wishes, producers).map(([wish, producer]) =>
      command({
        name: `enqueue ${JSON.stringify(wish)} by ${producer}`,
        run: async (model, real) => {
          const [answer] = await real.stores.get(producer)!.enqueueTaskRuns([newRun(real, wish)])
          expectEnqueued(model, wish, answer!, 'promoted')
        },
      }),
    ),
  ),
  ...often(
    2,
    wishes.map((wish) =>
      command({
        name: `enqueue ${JSON.stringify(wish)} and die before promoting`,
        run: async (model, real) => {
          const { db } = real.connections.get('alpha')!
          const run = newRun(real, wish)
          const [answer] = await db.transaction().execute((trx) => enqueueTaskRuns(trx, [run]))
          expectEnqueued(model, wish, answer!, 'gated')
        },
      }),
    ),
  ),
  wishes.map((wish) =>
    command({
      name: `enqueue twice at once with one unique key ${JSON.stringify(wish)}`,
      run: async (model, real) => {
        const both = { ...wish, uniqueKey: 'at-once', key: null }
        const stores = [real.stores.get('alpha')!, real.stores.get('bravo')!]
        const answers = (await Promise.all(stores.map((one) => one.enqueueTaskRuns([newRun(real, both)])))).flat()
        for (const answer of answers.toSorted((a, b) => Number(a.duplicate) - Number(b.duplicate))) {
          expectEnqueued(model, both, answer, 'promoted')
        }
      },
    }),
  ),
]

function newRun(real: Real, wish: Wish): NewRun {
  const { task, delay, expiresIn, key, uniqueKey, priority, maxAttempts, onCrash } = wish
  return {
    task,
    lane: real.lanes.get(task)!,
    payload: {},
    priority,
    maxAttempts,
    ...(delay !== null && { delayMs: delay * minute }),
    ...(expiresIn !== null && { expiresInMs: expiresIn * minute }),
    ...(key !== null && { concurrency: { scope, key } }),
    ...(uniqueKey !== null && { uniqueKey }),
    ...(onCrash !== null && { onCrash }),
  }
}

function expectEnqueued(model: Model, wish: Wish, answer: EnqueuedRun, end: 'promoted' | 'gated'): void {
  const existing = [...model.runs.values()].find(
    (run) =>
      run.uniqueKey !== null &&
      run.task === wish.task &&
      run.uniqueKey === wish.uniqueKey &&
      run.code === null &&
      run.status !== 'SUCCEEDED',
  )
  same(answer.duplicate, existing !== undefined)
  if (existing === undefined) {
    same(model.runs.has(answer.id), false)
    model.runs.set(answer.id, begun(model, wish, answer))
  } else same(answer.id, existing.id)
  if (end === 'promoted' && wish.key !== null && wish.delay === null) fill(model, wish.key)
  same(answer.status, model.runs.get(answer.id)?.status)
}

function begun(model: Model, wish: Wish, { id }: EnqueuedRun): ModelRun {
  const { delay, expiresIn, ...rest } = wish
  const gate = delay !== null ? 'time' : wish.key !== null ? 'concurrency' : null
  return {
    ...rest,
    id,
    status: gate === null ? 'AVAILABLE' : 'PENDING',
    waitingFor: gate,
    runAt: model.now + (delay ?? 0),
    expiresAt: expiresIn === null ? null : model.now + expiresIn,
    slot: null,
    attempt: 0,
    crashes: 0,
    epoch: 1,
    fence: 0,
    holder: null,
    lease: null,
    endedUnder: null,
    claimedAt: null,
    startedAt: null,
    beatAt: null,
    cancelRequested: false,
    checkpoint: null,
    code: null,
    history: [],
  }
}
