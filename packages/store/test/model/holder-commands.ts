/**
 * What a holder does under its lease, and what zombies try with leases that were lost: the same verbs, asked with the
 * same words, by the same replica too. A lease counts or does not; nothing in between.
 */
import * as fc from 'fast-check'
import type { Outcome, SettleAnswer } from '@q/store'
import { by } from '../fixture.ts'
import { command, live, lost, often, pick, same, storeOf, type Command, type Real } from './command.ts'
import { counts, isLate, runOf, type GivenLease, type Model, type ModelRun } from './model.ts'
import { leave } from './model-transitions.ts'
import { minute } from './world.ts'

const retryDelay = 10
const snoozeDelay = 20

type Deed = (model: Model, real: Real, lease: GivenLease) => Promise<void>

const deeds: Record<string, Deed> = {
  start: async (model, real, lease) => {
    const run = runOf(model, lease.runId)
    const may = counts(model, lease, 'CLAIMED') && !isLate(model, run)
    same(await storeOf(real, lease.replicaId).startTaskRuns([lease]), may ? [run.id] : [])
    if (may) Object.assign(run, { status: 'RUNNING', attempt: run.attempt + 1, startedAt: model.now })
  },
  beat: (model, real, lease) => beat(model, real, lease.replicaId, [lease]),
  succeed: (model, real, lease) => settle(model, real, [lease], { status: 'SUCCEEDED', result: '1' }),
  fail: (model, real, lease) => settle(model, real, [lease], { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' }),
  'fail with retry': (model, real, lease) => settle(model, real, [lease], failWithRetry),
  'acknowledge a cancel': (model, real, lease) =>
    settle(model, real, [lease], { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'as asked' }),
  'finish itself': async (model, real, lease) => {
    const may = counts(model, lease, 'RUNNING')
    const answer = await storeOf(real, lease.replicaId).finishTaskRun(lease, 1)
    same(answer, may ? 'settled' : 'lease-lost')
    const run = runOf(model, lease.runId)
    if (may) leave(model, [{ run, next: 'SUCCEEDED', outcome: 'succeeded', byHolder: true }])
  },
  snooze: async (model, real, lease) => {
    const may = counts(model, lease, 'RUNNING')
    const answer = await storeOf(real, lease.replicaId).snoozeTaskRun(lease, snoozeDelay * minute)
    same(answer, may ? (runOf(model, lease.runId).cancelRequested ? 'cancelled' : 'snoozed') : 'lease-lost')
    const run = runOf(model, lease.runId)
    if (may) leave(model, [{ run, next: 'PENDING', outcome: 'snoozed', delay: snoozeDelay, refund: true }])
  },
  release: async (model, real, lease) => {
    const may = counts(model, lease)
    same(await storeOf(real, lease.replicaId).releaseTaskRuns([lease]), may ? [lease.runId] : [])
    const run = runOf(model, lease.runId)
    if (may) leave(model, [{ run, next: 'AVAILABLE', outcome: 'released', refund: true }])
  },
  checkpoint: async (model, real, lease) => {
    const may = counts(model, lease, 'RUNNING')
    const answer = await storeOf(real, lease.replicaId).checkpointTaskRun(lease, JSON.stringify({ at: lease.fence }))
    same(answer, may ? 'saved' : 'lease-lost')
    if (may) runOf(model, lease.runId).checkpoint = lease.fence
  },
}

const failWithRetry: Outcome = {
  status: 'FAILED',
  code: 'TASK_ERROR',
  detail: 'no',
  retry: { delayMs: retryDelay * minute, delayMsMax: retryDelay * minute },
}

export const holderCommands: fc.Arbitrary<Command>[] = Object.entries(deeds).map(([deed, act]) =>
  fc.nat(30).map((number) =>
    command({
      name: `holder ${number}: ${deed}`,
      when: (model) => live(model).length > 0,
      run: (model, real) => act(model, real, pick(live(model), number)!),
    }),
  ),
)

export const zombieCommands: fc.Arbitrary<Command>[] = [
  ...often(
    5,
    fc.tuple(fc.constantFrom(...Object.keys(deeds)), fc.nat(30)).map(([deed, number]) =>
      command({
        name: `zombie ${number}: ${deed}`,
        when: (model) => lost(model).length > 0,
        run: (model, real) => deeds[deed]!(model, real, pick(lost(model), number)!),
      }),
    ),
  ),
  ...often(
    3,
    fc.nat(30).map((number) =>
      command({
        name: `zombie ${number}: a beat that was under way when its claim ended`,
        when: (model) => overtaken(model).length > 0,
        run: async (model, real) => {
          const { runId, fence, replicaId } = pick(overtaken(model), number)!
          await real.manualSql(lateBeat, [runId, fence, replicaId])
        },
      }),
    ),
  ),
  fc.constantFrom('alpha', 'bravo').map((replicaId) =>
    command({
      name: `${replicaId} beats for everything it ever claimed, in one batch`,
      run: (model, real) => beat(model, real, replicaId, everyLease(model, replicaId)),
    }),
  ),
  fc.constantFrom('alpha', 'bravo').map((replicaId) =>
    command({
      name: `${replicaId} settles everything it ever claimed, in one batch`,
      run: (model, real) => settle(model, real, everyLease(model, replicaId), { status: 'SUCCEEDED', result: '1' }),
    }),
  ),
]

/** Lost leases of runs that another claim is executing. */
function overtaken(model: Model): GivenLease[] {
  return lost(model).filter((lease) => runOf(model, lease.runId).status === 'RUNNING')
}

const lateBeat = `
INSERT INTO q.task_heartbeat (run_id, role, fence, pid, sent_at, sender_id, hostname)
VALUES ($1, 'runner', $2, 1, clock_timestamp(), $3, 'h') ON CONFLICT DO NOTHING`

/** A batch mixes leases that count with lost ones, also of one run. */
function everyLease(model: Model, replicaId: string): GivenLease[] {
  return model.leases.filter((lease) => lease.replicaId === replicaId)
}

async function beat(model: Model, real: Real, replicaId: string, leases: readonly GivenLease[]): Promise<void> {
  const beats = leases.map((lease) => ({ lease, thread: 0, ageMs: 0, progress: null, note: null }))
  const answers = await storeOf(real, replicaId).beatTaskRuns({ replicaId, hostname: 'h', pid: 1 }, beats)
  const expected = leases.map((lease) => {
    if (!counts(model, lease)) return runOf(model, lease.runId).endedUnder === lease.fence ? 'ended' : 'lost'
    return runOf(model, lease.runId).cancelRequested ? 'cancelled' : 'alive'
  })
  same(answers, expected)
  for (const lease of leases) if (counts(model, lease)) runOf(model, lease.runId).beatAt = model.now
}

async function settle(model: Model, real: Real, leases: readonly GivenLease[], outcome: Outcome): Promise<void> {
  const [first] = leases
  if (first === undefined) return
  const settlements = leases.map((lease) => ({ lease, outcome, by }))
  const answers = await storeOf(real, first.replicaId).settleTaskRuns(settlements)
  same(
    answers,
    leases.map((lease) => settled(model, lease, outcome)),
  )
  const held = leases.filter((lease) => counts(model, lease, 'RUNNING'))
  leave(
    model,
    held.map((lease) => {
      const run = runOf(model, lease.runId)
      const again = mayTryAgain(run, outcome)
      if (again) return { run, next: 'PENDING', outcome: 'retried', delay: retryDelay }
      const code = outcome.status === 'SUCCEEDED' ? {} : { code: outcome.code }
      return { run, next: outcome.status, outcome: outcome.status.toLowerCase(), byHolder: true, ...code }
    }),
  )
}

function settled(model: Model, lease: GivenLease, outcome: Outcome): SettleAnswer {
  const run = runOf(model, lease.runId)
  if (!counts(model, lease, 'RUNNING')) return run.endedUnder === lease.fence ? 'settled' : 'lease-lost'
  return mayTryAgain(run, outcome) && !run.cancelRequested ? 'retried' : 'settled'
}

function mayTryAgain(run: ModelRun, outcome: Outcome): boolean {
  return outcome.status === 'FAILED' && outcome.retry !== undefined && run.attempt < run.maxAttempts
}
