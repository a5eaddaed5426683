/** Rounds of the claim, called without time: the clock is a number here, and the store answers as told. */
import { expect, test } from 'vitest'
import type { BeatAnswer, ClaimedRun, RunId, Store, Turn, TurnAnswer } from '@q/store'
import { createAhead } from '../src/main/ahead.ts'
import { createHoldings } from '../src/main/holdings.ts'
import { claimTick, type ClaimDeps } from '../src/main/loops/claim.ts'
import { claimerTick } from '../src/main/loops/claimer.ts'
import { createPolling } from '../src/main/polling.ts'
import { createSlots } from '../src/main/slots.ts'
import { createTurns } from '../src/main/turns.ts'

const nothing: TurnAnswer = { finished: [], started: [], busy: [], claimed: [], ahead: [], more: false }

function run(runId: string): ClaimedRun {
  return { runId, fence: 1, attempt: 0 } as Partial<ClaimedRun> as ClaimedRun
}

/** A replica with one slot. */
function replica({ prefetch = 0 } = {}) {
  const now = { ms: 0 }
  const turns = createTurns(() => {})
  const slots = createSlots(1)
  const ahead = createAhead(prefetch)
  const holdings = createHoldings()
  const begun: ClaimedRun[] = []
  const sent: Turn[] = []
  const given: RunId[] = []
  let answer: Partial<TurnAnswer> = {}
  const deps: ClaimDeps = {
    turns,
    slots,
    ahead,
    holdings,
    idleness: { roomLeft: async () => false, full: async () => {}, forget: () => {} },
    pollEveryMs: 60_000,
    polling: createPolling(60_000, () => true),
    nowMs: () => now.ms,
    async takeTurn(turn) {
      sent.push(turn)
      return { ...nothing, ...answer }
    },
    slotsToFill: (freedMeanwhile) => slots.free() + freedMeanwhile,
    aheadMax: () => prefetch,
    isCutOff: () => false,
    begin: (claimed) => void begun.push(claimed),
    unplacedMsMax: 5_000,
    async giveBack(runs) {
      for (const { runId } of runs) given.push(runId)
      return runs.map(({ runId }) => runId)
    },
  }
  return {
    deps,
    now,
    turns,
    slots,
    ahead,
    holdings,
    begun,
    sent,
    given,
    tick(told: Partial<TurnAnswer> = {}) {
      answer = told
      return claimTick(deps)
    },
  }
}

/** A success that the turn does not settle: its slot stays taken. */
function unsettled({ turns, slots }: ReturnType<typeof replica>): void {
  slots.take()
  const by = { hostname: 'h', pid: 1, thread: 0 }
  void turns.finish({ lease: { runId: 'stuck' as RunId, fence: 1 }, result: '1', by })
}

test('a run whose slot does not become free is given back within its bound, and nothing is claimed in its place', async () => {
  const one = replica()
  unsettled(one)
  expect(await one.tick({ claimed: [run('1')] })).toEqual({ afterMs: 0 })
  one.now.ms = 4_999
  expect(await one.tick()).toEqual({ afterMs: 5_000 })
  expect([one.given, one.begun]).toEqual([[], []])
  one.now.ms = 5_000
  await one.tick()
  expect([one.given, one.begun, one.turns.unplaced]).toEqual([['1'], [], []])
  expect(one.sent).toHaveLength(1)
})

test('one whose slot becomes free in time begins, and one that cannot be given back yet still may', async () => {
  const one = replica()
  unsettled(one)
  await one.tick({ claimed: [run('1')] })
  one.now.ms = 10_000
  await claimTick({ ...one.deps, giveBack: async () => [] }) // somebody has it locked
  expect(one.turns.unplaced).toHaveLength(1)
  one.slots.giveBack(0)
  await one.tick()
  expect([one.begun.map(({ runId }) => runId), one.given]).toEqual([['1'], []])
})

test('a run that somebody has locked keeps its claim, lets others pass, and is asked for again', async () => {
  const one = replica({ prefetch: 1 })
  one.slots.take()
  await one.tick({ ahead: [run('locked')] })
  one.slots.giveBack(0)
  // Its slot goes to another one with the next turn, at once.
  expect(await one.tick({ busy: ['locked' as RunId] })).toEqual({ afterMs: 0 })
  expect(one.sent.at(-1)).toMatchObject({ starts: [{ runId: 'locked' }], claim: 0 })
  expect(await one.tick()).toEqual({ afterMs: 1_000 })
  expect(one.sent.at(-1)).toMatchObject({ starts: [], claim: 1, ahead: 0 })
  expect(one.holdings.find(run('locked'))).toBeDefined()
  expect(one.ahead.all()).toHaveLength(1) // beaten for meanwhile
  one.now.ms = 1_000
  await one.tick({ started: ['locked' as RunId] })
  expect(one.begun).toMatchObject([{ runId: 'locked', attempt: 1 }])
  expect(one.holdings.askedMs(run('locked'))).toBe(1_000)
})

test('one whose lease is lost is forgotten', async () => {
  const one = replica({ prefetch: 1 })
  one.slots.take()
  await one.tick({ ahead: [run('lost')] })
  one.slots.giveBack(0)
  await one.tick()
  expect(one.holdings.find(run('lost'))).toBeUndefined()
  expect(one.ahead.all()).toEqual([])
})

test.each(['cancelled', 'ended'] as const)(
  'a run that began while it was beaten for as a claim is ours, also if the answer says that it is %s',
  async (answer: BeatAnswer) => {
    const one = replica({ prefetch: 1 })
    one.slots.take()
    await one.tick({ ahead: [run('1')] })
    const control = {
      async beatTaskRuns() {
        one.slots.giveBack(0)
        await one.tick({ started: ['1' as RunId] })
        return [answer]
      },
    } as Partial<Store> as Store
    const sender = { replicaId: 'r', hostname: 'h', pid: 1 }
    await claimerTick({ control, ahead: one.ahead, holdings: one.holdings, sender, beatEveryMs: 1_000 })
    expect(one.begun.map(({ runId }) => runId)).toEqual(['1'])
    expect(one.holdings.find(run('1'))).toMatchObject({ runId: '1' })
  },
)
