/**
 * Kills a replica (kill -9) while batches of runs wait for its threads. Two replicas share a backlog of short runs; one
 * is killed in the middle, and the outcome of every run is compared with the marks that its code left.
 *
 * A run of the dead replica that had not begun counts as started, because other replicas cannot know. So a `fail` run
 * may end WORKER_CRASHED without having begun; the number of such runs is bounded, and none begins twice. A `retry` run
 * is started again.
 */
import { join } from 'node:path'
import type { RunId, Store } from '@q/store'
import { killRounds, type KillScene } from './kill-rounds.ts'
import { linesOf } from './marks.ts'
import { until } from './observations.ts'

export type Kind = 'fail' | 'retry'

export interface BatchOptions {
  readonly rounds: number
  readonly preset: string
  readonly kind: Kind
  /** The number of runs per round. */
  readonly runs: number
  /** How long each run computes; default: 1. */
  readonly ms?: number
}

export interface BatchKill {
  readonly kind: Kind
  /** Runs that were RUNNING on the replica when it died. */
  readonly held: number
  /** The number of those runs that had not begun. */
  readonly neverBegan: number
  /** Time from the signal until the dead replica held no run. */
  readonly recoveredMs: number
  /** Time from then until all runs had ended; each suspect needs its own process. */
  readonly clearedMs: number
  readonly failed: number
  /** Runs with a wrong outcome. */
  readonly wrong: readonly string[]
}

const threads = 2

export function batchScenario(
  databaseUrl: string,
  { rounds, preset, ...batch }: BatchOptions,
  onKill: (kill: BatchKill) => void = () => {},
): Promise<BatchKill[]> {
  const env = { Q_PRESET: preset, Q_THREADS: `${threads}` }
  return killRounds(databaseUrl, { rounds, env, onKill, killOne: (scene, round) => killOne(scene, round, batch) })
}

async function killOne(
  { store, folder, replicas, replace }: KillScene,
  round: number,
  { kind, runs, ms = 1 }: Omit<BatchOptions, 'rounds' | 'preset'>,
): Promise<BatchKill> {
  const marks = join(folder, `marks ${round}`)
  const ids = await enqueue(store, { kind, runs, marks, ms })
  const [victim] = round % 2 === 0 ? replicas() : replicas().toReversed()
  if (victim === undefined) throw new Error('There must be two replicas.')
  // Killed in the middle: some runs have begun, and the replica holds more runs than it has threads.
  await until(
    async () => linesOf(marks).length > runs / 10 && (await store.heldTaskRuns(victim.id)).length > threads,
    'it has runs in batches',
  )
  const killedMs = performance.now()
  victim.kill('SIGKILL')
  await victim.exited
  const held = await store.heldTaskRuns(victim.id)
  const begunBefore = new Set(linesOf(marks))
  await until(async () => (await store.heldTaskRuns(victim.id)).length === 0, 'everything is recovered')
  const recoveredMs = performance.now() - killedMs
  await until(async () => (await unfinished(store, ids)) === 0, 'all runs end')
  const clearedMs = performance.now() - killedMs - recoveredMs
  await replace(victim)
  const ends = await viewsOf(store, ids)
  return {
    kind,
    held: held.length,
    neverBegan: held.filter(({ runId }) => !begunBefore.has(runId)).length,
    recoveredMs,
    clearedMs,
    failed: ends.filter(({ status }) => status === 'FAILED').length,
    wrong: wrongEnds(ends, { kind, begun: linesOf(marks), held: new Set(held.map(({ runId }) => runId)) }),
  }
}

async function enqueue(
  store: Store,
  { kind, runs, marks, ms }: { kind: Kind; runs: number; marks: string; ms: number },
): Promise<RunId[]> {
  const task = kind === 'fail' ? 'briefOnce' : 'briefAgain'
  const lane = await store.internLane({ queue: 'default', task })
  const rows = Array.from({ length: runs }, () => ({ task, lane, onCrash: kind, payload: { marks, ms } }))
  const enqueued = await store.enqueueTaskRuns(rows)
  await store.wakeQueue('default')
  return enqueued.map(({ id }) => id)
}

type View = Awaited<ReturnType<Store['getTaskRuns']>>[number]

async function viewsOf(store: Store, ids: readonly RunId[]): Promise<readonly View[]> {
  return store.getTaskRuns(ids)
}

async function unfinished(store: Store, ids: readonly RunId[]): Promise<number> {
  return (await viewsOf(store, ids)).filter(({ result }) => result === null).length
}

interface ExpectedBatch {
  readonly kind: Kind
  /** A run id for each time that a run began. */
  readonly begun: readonly string[]
  /** Runs that were RUNNING on the replica when it died. */
  readonly held: ReadonlySet<string>
}

function wrongEnds(ends: readonly View[], { kind, begun, held }: ExpectedBatch): string[] {
  const counts = new Map<string, number>()
  for (const id of begun) counts.set(id, (counts.get(id) ?? 0) + 1)
  return ends.flatMap(({ id, status, attempt, result }) => {
    const began = counts.get(id) ?? 0
    const code: unknown = Reflect.get(Object(result), 'code')
    const crashed = held.has(id)
    const succeeded = status === 'SUCCEEDED' && began >= 1 && began <= attempt
    const isRight =
      kind === 'fail' && crashed
        ? status === 'FAILED' && code === 'WORKER_CRASHED' && began <= 1 && attempt === 1
        : succeeded && attempt === (crashed ? 2 : 1)
    return isRight
      ? []
      : [
          `run ${id}, ${crashed ? 'held' : 'not held'} there: ${status} ${String(code)}, attempt ${attempt}, begun ${began} times`,
        ]
  })
}
