/** Producers: one run, several at once, two with one unique key, and one whose producer dies before it has promoted. */
import * as fc from 'fast-check'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from '@q/store'
import { command, often, same, type Command, type Real } from './command.ts'
import { keyOwner, type Model, type ModelRun } from './model.ts'
import { fill } from './model-keys.ts'
import { minute, replicas, scope } from './world.ts'

export interface EnqueueInput {
  readonly task: string
  readonly delay: number | null
  readonly expiresIn: number | null
  readonly key: string | null
  readonly uniqueKey: string | null
  /** Null, or a time for which the key, if there is one, is taken. */
  readonly uniqueFor: number | null
  readonly priority: number
  readonly maxAttempts: number
  readonly onCrash: 'fail' | 'retry' | null
}

const inputs: fc.Arbitrary<EnqueueInput> = fc.record({
  task: fc.constantFrom('render', 'encode'),
  delay: fc.constantFrom(null, null, null, 20),
  expiresIn: fc.constantFrom(null, null, null, 40),
  key: fc.constantFrom(null, 'a', 'a', 'a', 'b'),
  uniqueKey: fc.constantFrom(null, null, null, 'u'),
  uniqueFor: fc.constantFrom(null, 20, 50),
  priority: fc.constantFrom(0, 0, 0, -1),
  maxAttempts: fc.constantFrom(1, 2),
  onCrash: fc.constantFrom(null, 'fail', 'retry'),
})
const producers = fc.constantFrom(...replicas.map((replica) => replica.id))

export const enqueueCommands: fc.Arbitrary<Command>[] = [
  ...often(
    5,
    fc.tuple(inputs, producers).map(([input, producer]) =>
      command({
        name: `enqueue ${JSON.stringify(input)} by ${producer}`,
        run: async (model, real) => {
          const [answer] = await real.stores.get(producer)!.enqueueTaskRuns([newRun(real, input)])
          expectEnqueued(model, input, answer!)
          promote(model, [input])
          expectStates(model, [answer!])
        },
      }),
    ),
  ),
  ...often(
    2,
    fc.tuple(fc.array(inputs, { minLength: 2, maxLength: 5 }), producers).map(([several, producer]) =>
      command({
        name: `enqueue together ${JSON.stringify(several)} by ${producer}`,
        run: async (model, real) => {
          const runs = several.map((input) => newRun(real, input))
          const answers = await real.stores.get(producer)!.enqueueTaskRuns(runs)
          for (const [index, input] of several.entries()) expectEnqueued(model, input, answers[index]!)
          promote(model, several)
          expectStates(model, answers)
        },
      }),
    ),
  ),
  ...often(
    2,
    inputs.map((input) =>
      command({
        name: `enqueue ${JSON.stringify(input)} and die before promoting`,
        run: async (model, real) => {
          const { db } = real.connections.get('alpha')!
          const run = newRun(real, input)
          const [answer] = await db.transaction().execute((trx) => enqueueTaskRuns(trx, [run]))
          expectEnqueued(model, input, answer!)
          expectStates(model, [answer!])
        },
      }),
    ),
  ),
  inputs.map((input) =>
    command({
      name: `enqueue twice at once with one unique key ${JSON.stringify(input)}`,
      run: async (model, real) => {
        const both = { ...input, uniqueKey: 'at-once', key: null }
        const stores = [real.stores.get('alpha')!, real.stores.get('bravo')!]
        const answers = (await Promise.all(stores.map((one) => one.enqueueTaskRuns([newRun(real, both)])))).flat()
        for (const answer of answers.toSorted((a, b) => Number(a.duplicate) - Number(b.duplicate))) {
          expectEnqueued(model, both, answer)
        }
        expectStates(model, answers)
      },
    }),
  ),
]

function newRun(real: Real, input: EnqueueInput): NewRun {
  const { task, delay, expiresIn, key, uniqueKey, uniqueFor, priority, maxAttempts, onCrash } = input
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
    ...(uniqueKey !== null && uniqueFor !== null && { uniqueForMs: uniqueFor * minute }),
    ...(onCrash !== null && { onCrash }),
  }
}

export function expectEnqueued(model: Model, input: EnqueueInput, answer: EnqueuedRun): void {
  const { task, uniqueKey, uniqueFor } = input
  const owner = keyOwner(model, task, uniqueKey)
  same(answer.duplicate, owner !== undefined)
  if (owner !== undefined) return same(answer.id, owner.id)
  same(model.runs.has(answer.id), false)
  model.runs.set(answer.id, begun(model, input, answer))
  if (uniqueKey === null || uniqueFor === null) return
  model.periods.set(`${task} ${uniqueKey}`, { runId: answer.id, until: model.now + uniqueFor })
}

/** Once all are committed. */
function promote(model: Model, several: readonly EnqueueInput[]): void {
  for (const { key, delay } of several) if (key !== null && delay === null) fill(model, key)
}

export function expectStates(model: Model, answers: readonly EnqueuedRun[]): void {
  for (const { id, status } of answers) same(status, model.runs.get(id)?.status)
}

export function begun(model: Model, input: EnqueueInput, { id }: EnqueuedRun): ModelRun {
  const { delay, expiresIn, ...rest } = input
  const gate = delay !== null ? 'time' : input.key !== null ? 'concurrency' : null
  return {
    ...rest,
    id,
    status: gate === null ? 'AVAILABLE' : 'PENDING',
    waitingFor: gate,
    runAt: model.now + (delay ?? 0),
    expiresAt: expiresIn === null ? null : model.now + expiresIn,
    asked: null,
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
