/**
 * `why` and the claim agree: of many runs with gates, queues, requirements, pauses and deadlines drawn at random, and a
 * fleet drawn at random, `why` says `ready` of exactly those that the claims of the fleet take.
 */
import { beforeEach, expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { fixture } from './fixture.ts'
import { fleetOf } from './fleet.ts'

const its = await fixture()
const { store, db } = its
const fleet = fleetOf(its)

const queues = ['q1', 'q2', 'q3', 'q4']
const capabilities = ['gpu', 'avx', 'ssd']
const tasks = ['t1', 't2']
const runsPerRound = 60

beforeEach(async () => {
  await fleet.disband()
  await db.deleteFrom('q.queue').execute()
})

test.for([11, 22, 33, 44, 55, 66])('seed %i: a run is taken exactly if why reports it as ready', async (seed) => {
  const dice = diceOf(seed)
  const working = await drawFleet(dice)
  for (const queue of queues) if (dice.chance(0.25)) await store.pauseQueue(queue, 'dice')
  const ids = await drawRuns(dice, `${seed}`)
  const said = new Set<RunId>()
  for (const id of ids) {
    const why = await store.whyNotRunning(id)
    const ready = why!.reasons.some(({ reason }) => reason === 'ready')
    expect(ready ? why!.reasons : [{ reason: 'ready' }]).toMatchObject([{ reason: 'ready' }])
    if (ready) said.add(id)
  }
  const taken = new Set<RunId>()
  for (const replica of working)
    for (const run of await fleet.claimAs(replica)) if (ids.includes(run.runId)) taken.add(run.runId)
  expect(said.size).toBeGreaterThan(0)
  expect([...said].toSorted()).toEqual([...taken].toSorted())
})

/** Ids of those that claim: alive and not draining. */
async function drawFleet(dice: Dice): Promise<string[]> {
  const working: string[] = []
  for (let index = 0; index < 5; index++) {
    const id = `replica-${index}`
    const worksOn = dice.chance(0.3) ? [] : dice.some(queues)
    await fleet.join(id, { queues: worksOn, tasks: [], capabilities: dice.some(capabilities) })
    await fleet.publish(id, ...dice.some(tasks))
    const fate = dice.pick(['works', 'works', 'drains', 'silent', 'left'])
    if (fate === 'works') working.push(id)
    if (fate === 'drains') await store.drainReplica(id, { by: 'dice' })
    if (fate === 'silent') await fleet.silence(id)
    if (fate === 'left') await store.retireReplica(id)
  }
  return working
}

async function drawRuns(dice: Dice, seed: string): Promise<RunId[]> {
  const ids: RunId[] = []
  for (let index = 0; index < runsPerRound; index++) {
    const task = dice.pick([...tasks, ...tasks, 'unknown-task'])
    const requires = dice.chance(0.4) ? [] : dice.some(capabilities)
    const lane = await store.internLane({ queue: dice.pick(queues), task, requires })
    const [run] = await store.enqueueTaskRuns([
      {
        task,
        lane,
        payload: {},
        priority: dice.pick([-1, 0, 1]),
        group: dice.pick(['a', 'b', 'c']),
        ...(dice.chance(0.2) && { delayMs: 60_000 }),
        ...(dice.chance(0.3) && { concurrency: { scope: `dice-${seed}`, key: dice.pick(['x', 'y', 'z']) } }),
        ...(dice.chance(0.2) && { expiresInMs: 60_000 }),
      },
    ])
    ids.push(run!.id)
  }
  const late = ids.filter(() => dice.chance(0.5))
  const rows = db.updateTable('q.task_run').where('id', 'in', late)
  await rows
    .set({ expires_at: new Date(0) })
    .where('expires_at', 'is not', null)
    .execute()
  await store.cancelTaskRuns(ids.filter(() => dice.chance(0.05)))
  return ids
}

interface Dice {
  chance(of: number): boolean
  pick<T>(from: readonly T[]): T
  some<T>(from: readonly T[]): T[]
}

function diceOf(seed: number): Dice {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    chance: (of) => next() < of,
    pick: (from) => from[Math.floor(next() * from.length)]!,
    some: (from) => from.filter(() => next() < 0.5),
  }
}
