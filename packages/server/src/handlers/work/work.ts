/**
 * Claims, starts, heartbeats and outcomes of workers over HTTP, by the same verbs that runners use. A write under a
 * lost lease changes nothing and gets 409 `LEASE_LOST`. A lease of another worker counts as lost.
 */
import { redactPatterns } from '@q/schema'
import { asRunId, type Lease, type LeaseHolder, type Store } from '@q/store'
import type { workRoutes } from '../../api/work.ts'
import type { Identity } from '../../auth/identify.ts'
import { Refusal } from '../../http/refusal.ts'
import type { Handlers } from '../../http/route-call.ts'
import type { HandlerDeps } from '../handler-deps.ts'
import { executable } from './executable.ts'
import { outcomeOfReport } from './outcome.ts'
import { createWorkerRunCounts } from './run-counts.ts'
import { createWorkers, replicaIdOf, taskNames } from './workers.ts'

export function workHandlers({ reads, writes, version }: HandlerDeps): Handlers<keyof typeof workRoutes> {
  const workers = createWorkers(writes, version)
  const counts = createWorkerRunCounts(writes, version)
  return {
    'POST /api/claims': async ({ body, who }) => {
      const replicaId = replicaIdOf(who, body.workerId)
      const { name, draining } = await workers.present(replicaId, body)
      const { queues, capabilities, limit, start } = body
      const claimed =
        draining || limit === 0
          ? []
          : await writes.claimAvailableTaskRuns({
              replicaId,
              tasks: taskNames(body),
              queues,
              capabilities,
              limit,
              prefetch: !start,
            })
      if (start) await counts.started(claimed)
      return { workerName: name, draining, runs: await executable(writes, claimed, workers.hostOf(replicaId)) }
    },
    'POST /api/runs/{id}/start': async ({ params, body, who }) => {
      const { lease, holder } = await ownLease(writes, params.id, body, who)
      // A repeat, because the answer was lost.
      if (holder?.isRunning === true) return { answer: 'started' }
      const [started] = await writes.startTaskRuns([lease])
      if (started === undefined) throw leaseLost(lease)
      return { answer: 'started' }
    },
    'POST /api/runs/{id}/beat': async ({ params, body, who }) => {
      const replicaId = replicaIdOf(who, body.workerId)
      const { lease } = await ownLease(writes, params.id, body, who)
      const { known, draining } = await workers.beat(replicaId, body.stats)
      const sender = { replicaId, ...workers.hostOf(replicaId) }
      const { progress = null, note = null } = body
      const [answer = 'lost'] = await writes.beatTaskRuns(sender, [
        { lease, thread: null, ageMs: 0, progress, note: note && redactPatterns(note) },
      ])
      if (answer === 'lost') throw leaseLost(lease)
      return { answer, registered: known, draining: draining !== null }
    },
    'POST /api/runs/{id}/finish': async ({ params, body, who }) => {
      const { lease, holder } = await ownLease(writes, params.id, body, who)
      if (holder?.isHeld === true && !holder.isRunning) throw notStarted(lease)
      const published = body.error === undefined ? [] : await writes.publishedTasks()
      const task = published.find(({ name }) => name === holder?.task)
      const outcome = outcomeOfReport(body, task)
      const by = { ...workers.hostOf(replicaIdOf(who, body.workerId)), thread: 0 }
      const { tookMs } = body
      const [answer] = await writes.settleTaskRuns([{ lease, outcome, by, ...(tookMs !== undefined && { tookMs }) }])
      if (answer !== 'settled' && answer !== 'retried') throw answer === 'refused' ? unstorable() : leaseLost(lease)
      if (holder?.isHeld === true) await counts.ended({ ...holder, runId: lease.runId }, outcome, answer)
      return { answer }
    },
    'POST /api/runs/{id}/release': async ({ params, body, who }) => {
      const { lease } = await ownLease(writes, params.id, body, who)
      const [released] = await writes.releaseTaskRuns([lease])
      if (released === undefined) throw leaseLost(lease)
      return { answer: 'released' }
    },
    'GET /api/workers/{workerId}/runs': async ({ params, who }) => ({
      items: await reads.heldTaskRuns(replicaIdOf(who, params.workerId)),
    }),
    'DELETE /api/workers/{workerId}': async ({ params, who }) => {
      const replicaId = replicaIdOf(who, params.workerId)
      const released = await writes.releaseTaskRuns(await writes.heldTaskRuns(replicaId))
      await workers.leave(replicaId)
      return { released }
    },
  }
}

interface GivenLease {
  readonly workerId: string
  readonly fence: number
}

/**
 * `holder` is undefined if the run has a higher fence by now; the database then refuses the write and records the
 * refusal. A fence that no claim has given out yet is refused here: by the time of the write, another worker may hold
 * it.
 */
async function ownLease(
  store: Store,
  id: string,
  { workerId, fence }: GivenLease,
  who: Identity,
): Promise<{ readonly lease: Lease; readonly holder: LeaseHolder | undefined }> {
  const runId = asRunId(id)
  if (runId === undefined) throw leaseLost({ runId: id, fence })
  const lease = { runId, fence }
  const holder = await store.leaseHolder(lease)
  if (holder === undefined) throw leaseLost(lease)
  if (holder.fence > fence) return { lease, holder: undefined }
  if (holder.replicaId !== replicaIdOf(who, workerId)) throw leaseLost(lease)
  return { lease, holder }
}

function leaseLost({ runId, fence }: { readonly runId: string; readonly fence: number }): Refusal {
  return new Refusal(409, {
    code: 'LEASE_LOST',
    what: `Fence ${fence} is not a valid lease of run ${runId}; nothing was written.`,
    why: 'The run was recovered, released, cancelled or claimed again in the meantime, or another worker holds it.',
    fix: 'Stop working on this run, and claim another one. Send heartbeats more often, or register a longer staleAfterMs.',
  })
}

function notStarted({ runId }: Lease): Refusal {
  return new Refusal(
    409,
    {
      code: 'CONFLICT',
      what: `Run ${runId} has not been started; nothing was written.`,
      why: 'The worker claimed it with `"start": false`, and a run that was not started has no outcome.',
      fix: `POST /api/runs/${runId}/start before its code begins, then finish it; or release it.`,
    },
    { more: { state: 'CLAIMED' } },
  )
}

function unstorable(): Refusal {
  return new Refusal(422, {
    code: 'INVALID_RESULT',
    what: 'The database cannot store the outcome; nothing was written.',
    why: 'PostgreSQL stores no character \\u0000 and no half of a surrogate pair in JSON.',
    fix: 'Remove such characters from the result or the error, and finish the run again.',
  })
}
