/**
 * An exchange of a replica: it finishes and starts everything it ever claimed, under current and lost leases, and claims, in
 * one round trip. The finish skips a run with a concurrency key. A woken replica repeats exchanges until it knows of no more
 * runs: it gets all of them, whatever it knew before.
 */
import * as fc from 'fast-check'
import type { ClaimedRun } from '@q/store'
import { by } from '../fixture.ts'
import { wholeExchange } from '../whole-exchange.ts'
import { expectFairClaim, isClaimable, take } from './claim-commands.ts'
import { command, often, same, sorted, type Command } from './command.ts'
import { counts, isLate, runOf } from './model.ts'
import { leave } from './model-transitions.ts'
import { replicas, tasks } from './world.ts'

const anyReplica = fc.constantFrom(...replicas.map((replica) => replica.id))

export const exchangeCommands: fc.Arbitrary<Command>[] = [...often(3, exchanges()), ...often(2, wakes())]

function exchanges(): fc.Arbitrary<Command> {
  return fc
    .tuple(anyReplica, fc.boolean(), fc.boolean(), fc.constantFrom(0, 1, 3))
    .map(([replicaId, finishing, starting, claim]) =>
      command({
        name: `${replicaId} exchanges: ${finishing ? 'finishes, ' : ''}${starting ? 'starts, ' : ''}claims ${claim}`,
        run: async (model, real) => {
          const leases = model.leases.filter((lease) => lease.replicaId === replicaId)
          const finishes = finishing ? leases.map((lease) => ({ lease, result: '1', by })) : []
          const starts = starting ? leases : []
          const answer = await wholeExchange(real.connections.get(replicaId)!, real.claimers.get(replicaId)!, {
            finishes,
            starts,
            claim,
            prefetch: 0,
          })

          const ending = finishes
            .map(({ lease }) => lease)
            .filter((lease) => counts(model, lease, 'RUNNING') && runOf(model, lease.runId).key === null)
          same(sorted(answer.finished.map(({ runId }) => runId)), sorted(ending.map(({ runId }) => runId)), 'finished')
          const starters = starts.filter(
            (lease) => counts(model, lease, 'CLAIMED') && !isLate(model, runOf(model, lease.runId)),
          )
          same(sorted(answer.started), sorted(starters.map(({ runId }) => runId)), 'started')
          leave(
            model,
            ending.map(({ runId }) => ({
              run: runOf(model, runId),
              next: 'SUCCEEDED',
              outcome: 'succeeded',
              byHolder: true,
            })),
          )
          for (const { runId } of starters) {
            const run = runOf(model, runId)
            Object.assign(run, { status: 'RUNNING', attempt: run.attempt + 1, startedAt: model.now })
          }
          expectTurnClaim()

          /** One statement takes from one priority; the next exchange uses the room that is left. */
          function expectTurnClaim(): void {
            expectFairClaim(model, answer.claimed, { limit: claim, taskNames: tasks, rounds: 'one' })
            for (const run of answer.claimed) take(model, run, replicaId, false)
          }
        },
      }),
    )
}

function wakes(): fc.Arbitrary<Command> {
  return fc.tuple(anyReplica, fc.constantFrom(1, 2, 5)).map(([replicaId, limit]) =>
    command({
      name: `${replicaId} is woken and exchanges for ${limit}`,
      run: async (model, real) => {
        const claimer = real.claimers.get(replicaId)!
        const ready = [...model.runs.values()].filter((run) => isClaimable(model, run, tasks))
        const claimed: ClaimedRun[] = []
        claimer.runsReady()
        for (let more = true; more && claimed.length < limit;) {
          const wanted = { finishes: [], starts: [], claim: limit - claimed.length, prefetch: 0 }
          const answer = await wholeExchange(real.connections.get(replicaId)!, claimer, wanted)
          claimed.push(...answer.claimed)
          more = answer.more
        }
        expectFairClaim(model, claimed, { limit, taskNames: tasks, rounds: 'one' })
        same(claimed.length, Math.min(limit, ready.length), 'as many as there are')
        for (const run of claimed) take(model, run, replicaId, false)
      },
    }),
  )
}
