/**
 * The gate `task`: runs of a task that a replica publishes in the middle of a run of commands. Their producers do not know
 * its options. A transaction that did not see the publication commits after it; the next sweep opens the gate for its run.
 */
import * as fc from 'fast-check'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from '@q/store'
import { command, often, same, sorted, storeOf, type Command, type Real } from './command.ts'
import { begun, expectEnqueued, expectStates, type EnqueueInput } from './enqueue-commands.ts'
import { keyOwner, type Model, type ModelRun } from './model.ts'
import { fill } from './model-keys.ts'
import { leave } from './model-transitions.ts'
import { lateTask, minute, replicas } from './world.ts'

const { maxAttempts, onCrash } = lateTask

/** What the caller asks for; the keys are values of the payload. */
const inputs: fc.Arbitrary<EnqueueInput> = fc.record({
  task: fc.constant(lateTask.name),
  delay: fc.constantFrom(null, null, null, 20),
  expiresIn: fc.constantFrom(null, null, null, 40),
  key: fc.constantFrom(null, 'a', 'a', 'b'),
  uniqueKey: fc.constantFrom(null, null, 'u'),
  uniqueFor: fc.constant(null),
  priority: fc.constant(0),
  maxAttempts: fc.constant(maxAttempts),
  onCrash: fc.constant(onCrash),
})
const everybody = fc.constantFrom(...replicas.map((replica) => replica.id))

export const gateCommands: fc.Arbitrary<Command>[] = [
  ...often(
    3,
    fc.tuple(inputs, everybody).map(([input, producer]) =>
      command({
        name: `enqueue ${JSON.stringify(input)} without its options, by ${producer}`,
        run: async (model, real) => {
          const [answer] = await storeOf(real, producer).enqueueTaskRuns([newRun(input)])
          if (model.published) expectEnqueued(model, input, answer!)
          else expectGated(model, input, answer!)
          const run = model.runs.get(answer!.id)
          if (run?.waitingFor === 'concurrency') fill(model, run.key ?? '')
          expectStates(model, [answer!])
        },
      }),
    ),
  ),
  everybody.map((replicaId) =>
    command({
      name: `${replicaId} publishes ${lateTask.name}`,
      run: (model, real) => publish(model, real, replicaId),
    }),
  ),
  inputs.map((input) =>
    command({
      name: `enqueue ${JSON.stringify(input)} in a transaction that commits after the publication`,
      when: (model) => !model.published,
      run: async (model, real) => {
        const { db } = real.connections.get('alpha')!
        const [answer] = await db.transaction().execute(async (trx) => {
          const answers = await enqueueTaskRuns(trx, [newRun(input)])
          await publish(model, real, 'bravo')
          return answers
        })
        expectGated(model, input, answer!)
      },
    }),
  ),
  ...often(
    2,
    everybody.map((replicaId) =>
      command({
        name: `sweep the gate, by ${replicaId}`,
        run: async (model, real) => {
          const ids = await storeOf(real, replicaId).sweepTaskGate()
          same(sorted(ids), sorted(model.published ? openGate(model) : []))
        },
      }),
    ),
  ),
]

async function publish(model: Model, real: Real, replicaId: string): Promise<void> {
  await storeOf(real, replicaId).publishTasks(replicaId, [lateTask.notice])
  model.published = true
  openGate(model)
}

function newRun({ task, delay, expiresIn, key, uniqueKey }: EnqueueInput): NewRun {
  return {
    task,
    payload: { key, uniqueKey },
    ...(delay !== null && { delayMs: delay * minute }),
    ...(expiresIn !== null && { expiresInMs: expiresIn * minute }),
  }
}

/** The run waits at the gate, without the options of its task. */
function expectGated(model: Model, input: EnqueueInput, answer: EnqueuedRun): void {
  same(answer, { id: answer.id, status: 'PENDING', duplicate: false })
  const { key, uniqueKey } = input
  const bare = begun(model, { ...input, key: null, uniqueKey: null, maxAttempts: 1, onCrash: null }, answer)
  model.runs.set(answer.id, { ...bare, status: 'PENDING', waitingFor: 'task', asked: { key, uniqueKey } })
}

/** Opens the gate in the order of enqueue: of runs with one unique key the first counts. Returns the runs that passed. */
function openGate(model: Model): string[] {
  const [opened, duplicates]: [ModelRun[], ModelRun[]] = [[], []]
  for (const run of [...model.runs.values()].filter(({ waitingFor }) => waitingFor === 'task')) {
    const { key, uniqueKey } = run.asked!
    if (keyOwner(model, run.task, uniqueKey) === undefined) {
      opened.push(run)
      const gate = run.runAt > model.now ? 'time' : key === null ? null : 'concurrency'
      const status = gate === null ? 'AVAILABLE' : 'PENDING'
      Object.assign(run, { key, uniqueKey, maxAttempts, onCrash, asked: null, waitingFor: gate, status })
    } else duplicates.push(run)
  }
  const waiting = opened.filter(({ waitingFor }) => waitingFor === 'concurrency')
  for (const key of new Set(waiting.map((run) => run.key ?? ''))) fill(model, key)
  leave(
    model,
    duplicates.map((run) => ({ run, next: 'SKIPPED', outcome: 'skipped', code: 'DUPLICATE' })),
  )
  return opened.map(({ id }) => id)
}
