/**
 * Signs of life, and those who look for their absence. Looking and acting are two commands: whatever may happen in
 * between happens in some run of commands, a beat, an outcome or another claim above all.
 */
import * as fc from 'fast-check'
import type { RunId } from '@q/store'
import { abandoned, recoverStaleRuns } from '../../src/liveness/recover.ts'
import { stats } from '../holders.ts'
import { command, often, pick, same, sorted, storeOf, type Command, type Real } from './command.ts'
import { holders, isHeld, isStale, served, type Model, type ModelRun } from './model.ts'
import { sweepKeys } from './model-keys.ts'
import { crash, leave, type Departure } from './model-transitions.ts'
import { atMost, replicas } from './world.ts'

const everybody = fc.constantFrom(...replicas.map((replica) => replica.id))
const result = JSON.stringify(abandoned)

export const reaperCommands: fc.Arbitrary<Command>[] = [
  ...often(
    2,
    fc.nat(30).map((number) =>
      command({
        name: `holder ${number} beats`,
        when: (model) => holders(model).length > 0,
        run: async (model, real) => {
          const replicaId = pick(holders(model), number)!
          await storeOf(real, replicaId).upsertReplicaHeartbeat(replicaId, stats)
          model.replicas.get(replicaId)!.lastBeat = model.now
        },
      }),
    ),
  ),
  fc.constant(
    command({
      name: `${served.by} beats`,
      run: async (model, real) => {
        await storeOf(real, served.by).upsertReplicaHeartbeat(served.by, stats)
        model.replicas.get(served.by)!.lastBeat = model.now
      },
    }),
  ),
  ...often(
    5,
    everybody.map((replicaId) =>
      command({
        name: `${replicaId} looks for stale runs`,
        run: async (model, real) => {
          const seen = await storeOf(real, replicaId).getStaleTaskRuns()
          same(
            seen.map((run) => run.id),
            sorted(staleRuns(model).map((run) => run.id)),
          )
          if (seen.length > 0) model.seen = seen
        },
      }),
    ),
  ),
  ...often(
    8,
    everybody.map((replicaId) =>
      command({
        name: `${replicaId} acts upon what was seen`,
        when: (model) => model.seen.length > 0,
        run: async (model, real) => {
          const seen = new Map(model.seen.map((run) => [run.id, run.fence]))
          const expected = staleRuns(model).filter((run) => seen.get(run.id) === run.fence)
          const { db } = real.connections.get(replicaId)!
          const recovered = await recoverStaleRuns(db, model.seen, { by: replicaId }, { goal: 'CRASH', result })
          await expectRecovered(
            model,
            real,
            recovered.ids,
            expected.map((run) => crash(model, run)),
          )
        },
      }),
    ),
  ),
  everybody.map((replicaId) =>
    command({
      name: `${replicaId} reaps`,
      run: async (model, real) => {
        const { ids } = await storeOf(real, replicaId).reap({ by: replicaId })
        await expectRecovered(
          model,
          real,
          ids,
          staleRuns(model).map((run) => crash(model, run)),
        )
      },
    }),
  ),
  fc.constant(
    command({
      name: 'alpha and bravo reap at once',
      run: async (model, real) => {
        const both = ['alpha', 'bravo'].map((by) => storeOf(real, by).reap({ by }))
        const ids = (await Promise.all(both)).flatMap((recovered) => recovered.ids)
        await expectRecovered(
          model,
          real,
          ids,
          staleRuns(model).map((run) => crash(model, run)),
        )
        // A run that the other reaper has just locked keeps its slot until the next sweep.
        await storeOf(real, 'alpha').sweepGatedKeys(atMost)
        sweepKeys(model)
      },
    }),
  ),
  everybody.map((replicaId) =>
    command({
      name: `${replicaId} fails stale runs, whatever they say`,
      run: async (model, real) => {
        const { ids } = await storeOf(real, replicaId).failStaleTaskRuns({ by: replicaId })
        const running = staleRuns(model).filter((run) => run.status === 'RUNNING')
        const departures = running.map(
          (run) => ({ run, next: 'FAILED', outcome: 'crashed', code: abandoned.code, crashed: true }) as const,
        )
        await expectRecovered(model, real, ids, departures)
      },
    }),
  ),
]

function staleRuns(model: Model): ModelRun[] {
  return [...model.runs.values()].filter((run) => isHeld(run) && isStale(model, run))
}

/** Each once, and each with a record. */
async function expectRecovered(
  model: Model,
  real: Real,
  ids: readonly RunId[],
  departures: readonly Departure[],
): Promise<void> {
  same(sorted(ids), sorted(departures.map(({ run }) => run.id)))
  leave(model, departures)
  model.recoveries += departures.length
  same(await real.recoveries(), model.recoveries)
}
