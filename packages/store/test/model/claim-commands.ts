/**
 * Replicas take runs: to start at once, or to prefetch; one alone, or two at the same moment.
 *
 * Which runs a claim takes is judged, not foretold: only what may be claimed, none twice, as many as asked for if there
 * are so many, and nothing while a run of better priority is left.
 */
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { ClaimedRun } from '@q/store'
import { command, often, pick, same, sorted, storeOf, type Command } from './command.ts'
import { isLate, runOf, type Model, type ModelRun } from './model.ts'
import { replicas, tasks } from './world.ts'

const claimers = fc.constantFrom(...replicas.map((replica) => replica.id))
/** A claim answers in milliseconds, on a busy machine in seconds, or it waits until the other session ends. */
const waitMsMax = 60_000
const limits = fc.constantFrom(1, 2, 5)
const known: fc.Arbitrary<readonly string[]> = fc.constantFrom([...tasks], ['render'])

export const claimCommands: fc.Arbitrary<Command>[] = [
  ...often(
    5,
    fc.tuple(claimers, limits, fc.boolean(), known).map(([replicaId, limit, prefetch, taskNames]) =>
      command({
        name: `${replicaId} claims ${limit}${prefetch ? ' as prefetch' : ''} of ${taskNames.join(', ')}`,
        run: async (model, real) => {
          const request = { replicaId, tasks: taskNames, queues: [], limit, prefetch }
          const claimed = await storeOf(real, replicaId).claimAvailableTaskRuns(request)
          expectFairClaim(model, claimed, { limit, taskNames, rounds: 'all' })
          for (const run of claimed) take(model, run, replicaId, prefetch)
        },
      }),
    ),
  ),
  ...often(
    2,
    fc.tuple(limits, fc.boolean()).map(([limit, prefetch]) =>
      command({
        name: `alpha and bravo claim ${limit} at once${prefetch ? ' as prefetch' : ''}`,
        run: async (model, real) => {
          const both = ['alpha', 'bravo']
          const claims = await Promise.all(
            both.map((replicaId) =>
              storeOf(real, replicaId).claimAvailableTaskRuns({ replicaId, tasks, queues: [], limit, prefetch }),
            ),
          )
          const ids = claims.flat().map((run) => run.runId)
          same(ids.length, new Set(ids).size, 'claimed once')
          for (const claimed of claims) {
            same(claimed.length <= limit, true, 'at most the limit')
            same(
              claimed.filter((run) => !isClaimable(model, runOf(model, run.runId), tasks)),
              [],
            )
          }
          claims.forEach((claimed, index) => claimed.forEach((run) => take(model, run, both[index]!, prefetch)))
        },
      }),
    ),
  ),
  fc.tuple(claimers, fc.nat(30)).map(([replicaId, number]) =>
    command({
      name: `${replicaId} claims 5 while another session has locked run ${number}`,
      when: (model) => model.runs.size > 0,
      run: async (model, real) => {
        const locked = pick([...model.runs.keys()], number)!
        await real.manualSql('BEGIN', [])
        await real.manualSql('SELECT 1 FROM q.task_run WHERE id = $1 FOR UPDATE', [locked])
        const claim = storeOf(real, replicaId).claimAvailableTaskRuns({ replicaId, tasks, queues: [], limit: 5 })
        const claimed = await Promise.race([claim, setTimeout(waitMsMax, undefined, { ref: false })])
        await real.manualSql('ROLLBACK', [])
        await claim
        if (claimed === undefined) throw new Error('The claim waited for a row that another session had locked.')
        same(
          claimed.some((run) => run.runId === locked),
          false,
          'passed over',
        )
        same(
          claimed.filter((run) => !isClaimable(model, runOf(model, run.runId), tasks)),
          [],
        )
        for (const run of claimed) take(model, run, replicaId, false)
      },
    }),
  ),
]

export function isClaimable(model: Model, run: ModelRun, taskNames: readonly string[]): boolean {
  return (
    run.status === 'AVAILABLE' && taskNames.includes(run.task) && !model.paused.has(run.task) && !isLate(model, run)
  )
}

interface FairClaim {
  readonly limit: number
  readonly taskNames: readonly string[]
  /** `one`: a single statement, which may leave room when what it chose from had less than it asked for. */
  readonly rounds: 'one' | 'all'
}

export function expectFairClaim(model: Model, claimed: readonly ClaimedRun[], fair: FairClaim): void {
  const claimable = [...model.runs.values()].filter((run) => isClaimable(model, run, fair.taskNames))
  const ids = claimed.map((run) => run.runId)
  const refused = ids.filter((id) => !claimable.some((run) => run.id === id))
  same(refused, [], 'claimed though they may not be')
  same(sorted([...new Set(ids)]), sorted(ids), 'claimed once')
  const room = Math.min(fair.limit, claimable.length)
  if (fair.rounds === 'one') return same(ids.length <= room, true, 'no more than there are')
  same(ids.length, room, 'as many as there are')
  const worst = Math.max(...ids.map((id) => runOf(model, id).priority))
  const left = claimable.filter((run) => !ids.includes(run.id))
  same(
    left.filter((run) => run.priority < worst),
    [],
    'passed over',
  )
}

export function take(model: Model, claimed: ClaimedRun, replicaId: string, prefetch: boolean): void {
  const run = runOf(model, claimed.runId)
  const earlier = model.leases.filter((lease) => lease.runId === run.id).map((lease) => lease.fence)
  same(claimed.fence > Math.max(run.fence, ...earlier), true, 'a new fence')
  Object.assign(run, {
    status: prefetch ? 'CLAIMED' : 'RUNNING',
    attempt: run.attempt + (prefetch ? 0 : 1),
    holder: replicaId,
    lease: claimed.fence,
    claimedAt: model.now,
    startedAt: prefetch ? null : model.now,
    beatAt: null,
  })
  const { attempt, epoch, task } = claimed
  same({ attempt, epoch, task }, { attempt: run.attempt, epoch: run.epoch, task: run.task })
  model.leases.push({ runId: run.id, fence: claimed.fence, replicaId })
}
