/**
 * A replica's turn: it finishes and starts everything it ever claimed, under leases that count and leases that were
 * lost, and claims, in one round trip. A run with a concurrency key is passed over by the finish.
 */
import * as fc from 'fast-check'
import { createClaimer, takeTurn } from '@q/store'
import { by } from '../fixture.ts'
import { expectFairClaim, take } from './claim-commands.ts'
import { command, often, same, sorted, type Command } from './command.ts'
import { counts, isLate, leave, runOf } from './model.ts'
import { replicas, tasks } from './world.ts'

const everybody = fc.constantFrom(...replicas.map((replica) => replica.id))

export const turnCommands: fc.Arbitrary<Command>[] = often(
  3,
  fc
    .tuple(everybody, fc.boolean(), fc.boolean(), fc.constantFrom(0, 1, 3))
    .map(([replicaId, finishing, starting, claim]) =>
      command({
        name: `${replicaId} takes a turn: ${finishing ? 'finishes, ' : ''}${starting ? 'starts, ' : ''}claims ${claim}`,
        run: async (model, real) => {
          const leases = model.leases.filter((lease) => lease.replicaId === replicaId)
          const finishes = finishing ? leases.map((lease) => ({ lease, result: '1', by })) : []
          const starts = starting ? leases : []
          const claimer = createClaimer({ replicaId, tasks, queues: [] })
          const answer = await takeTurn(real.connections.get(replicaId)!, claimer, {
            finishes,
            starts,
            claim,
            ahead: 0,
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

          /** One statement takes from one priority; what is left of the room is for the next turn. */
          function expectTurnClaim(): void {
            expectFairClaim(model, answer.claimed, { limit: claim, taskNames: tasks, rounds: 'one' })
            for (const run of answer.claimed) take(model, run, replicaId, false)
          }
        },
      }),
    ),
)
