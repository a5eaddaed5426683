/** Time passes, and what is done when it has: promote, sweep, expire. Rows are aged; nothing sleeps. */
import * as fc from 'fast-check'
import type { RunId } from '@q/store'
import { command, often, pick, same, sorted, storeOf, type Command } from './command.ts'
import { blockedByHolder, waitingBesideFreeSlots } from './invariants.ts'
import { holders, isHeld, isLate, runOf, type Model } from './model.ts'
import { canStart, fill, sweepKeys } from './model-keys.ts'
import { leave } from './model-transitions.ts'
import { atMost, replicas } from './world.ts'

const everybody = fc.constantFrom(...replicas.map((replica) => replica.id))

export const timeCommands: fc.Arbitrary<Command>[] = [
  ...often(
    2,
    fc.constantFrom(15, 15, 60, 240).map((minutes) =>
      command({
        name: `${minutes} minutes pass`,
        run: async (model, real) => {
          await real.age(minutes)
          model.now += minutes
        },
      }),
    ),
  ),
  ...often(
    3,
    fc.nat(30).map((number) =>
      command({
        name: `holder ${number} has been silent for an hour`,
        when: (model) => holders(model).length > 0,
        run: async (model, real) => {
          const replicaId = pick(holders(model), number)!
          await real.age(60, replicaId)
          beSilent(model, replicaId, 60)
        },
      }),
    ),
  ),
  everybody.map((replicaId) =>
    command({
      name: `promote what is due, by ${replicaId}`,
      run: async (model, real) => {
        const { ids } = await storeOf(real, replicaId).promoteDueTaskRuns(atMost)
        same(sorted(ids), sorted(promoteDue(model)))
      },
    }),
  ),
  everybody.map((replicaId) =>
    command({
      name: `sweep keys, by ${replicaId}`,
      run: async (model, real) => {
        const ids = await storeOf(real, replicaId).sweepGatedKeys(atMost)
        same(sorted(ids), sorted(sweepKeys(model)))
        const startable = (id: RunId) => canStart(model, runOf(model, id))
        const seen = await real.look()
        same(waitingBesideFreeSlots(seen, model.limit, startable), [])
        same(blockedByHolder(seen, startable), [])
      },
    }),
  ),
  everybody.map((replicaId) =>
    command({
      name: `expire, by ${replicaId}`,
      run: async (model, real) => {
        const ids = await storeOf(real, replicaId).expireTaskRuns(atMost)
        const unstarted = ['PENDING', 'AVAILABLE', 'CLAIMED']
        const late = [...model.runs.values()].filter((run) => unstarted.includes(run.status) && isLate(model, run))
        same(sorted(ids), sorted(late.map((run) => run.id)))
        leave(
          model,
          late.map((run) => ({ run, next: 'EXPIRED', outcome: 'expired', code: 'TASK_EXPIRED' })),
        )
      },
    }),
  ),
]

function beSilent(model: Model, replicaId: string, minutes: number): void {
  const replica = model.replicas.get(replicaId)
  if (replica === undefined) return
  replica.lastBeat -= minutes
  replica.registeredAt -= minutes
  for (const run of model.runs.values()) {
    if (!isHeld(run) || run.holder !== replicaId) continue
    for (const sign of ['claimedAt', 'startedAt', 'beatAt'] as const) if (run[sign] !== null) run[sign] -= minutes
  }
}

function promoteDue(model: Model) {
  const due = [...model.runs.values()].filter((run) => run.waitingFor === 'time' && run.runAt <= model.now)
  const keyed = due.filter((run) => run.key !== null)
  const ready = due.filter((run) => run.key === null)
  for (const run of ready) Object.assign(run, { status: 'AVAILABLE', waitingFor: null })
  for (const run of keyed) run.waitingFor = 'concurrency'
  const keys = [...new Set(keyed.flatMap((run) => run.key ?? []))]
  return [...ready.map((run) => run.id), ...keys.flatMap((key) => fill(model, key))]
}
