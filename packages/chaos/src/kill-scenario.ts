/**
 * Uses two replicas with runs in every slot and a few claimed ahead, and kills one of them (kill -9), alternating
 * between the watcher and the other one. Measures the time from the signal until the dead replica holds no run. Then
 * all runs may finish, and the outcome of each is compared with its state at the kill.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HeldRun, RunId, Store } from '@q/store'
import { killRounds, type KillScene } from './kill-rounds.ts'
import { linesOf } from './marks.ts'
import { recoveriesOf, until, watcherId } from './observations.ts'
import type { ReplicaProcess } from './processes.ts'
import type * as tasks from './tasks.ts'

export interface KillOptions {
  readonly rounds: number
  readonly preset: string
  /** The number of runs in execution on both replicas together. */
  readonly inFlight: number
  /** The pause before each kill: a watcher waits for the grace before it acts. */
  readonly restMs: () => number
}

export interface Kill {
  readonly wasWatcher: boolean
  readonly tookMs: number
  readonly running: number
  readonly claimed: number
  /** A summary of the outcomes of the runs that the replica held. */
  readonly recoveries: string
  /** Runs with a wrong outcome. */
  readonly wrong: readonly string[]
}

const prefetchMax = 2

export function killScenario(
  databaseUrl: string,
  { rounds, preset, inFlight, restMs }: KillOptions,
  onKill: (kill: Kill) => void = () => {},
): Promise<Kill[]> {
  const slots = inFlight / 2
  const env = { Q_PRESET: preset, Q_THREADS: `${slots}`, Q_PREFETCH: `${prefetchMax}` }
  const killAfterRest = async (scene: KillScene, round: number) => {
    await sleep(restMs())
    return killOne(scene, round, slots)
  }
  return killRounds(databaseUrl, { rounds, env, onKill, killOne: killAfterRest })
}

async function killOne(scene: KillScene, round: number, slots: number): Promise<Kill> {
  const { db, store, folder, replicas, replace } = scene
  const files = { marks: join(folder, `marks ${round}`), gate: join(folder, `gate ${round}`) }
  const runs = await fill(scene, slots, files)
  const views = () => store.getTaskRuns(runs.map(({ id }) => id))
  let watcher: string | undefined
  const isWatched = async () => {
    watcher = await watcherId(db)
    return replicas().some(({ id }) => id === watcher)
  }
  await until(isWatched, 'one of them watches')
  const victim = replicas().find(({ id }) => (id === watcher) === (round % 2 === 1)) as ReplicaProcess
  const held = await store.heldTaskRuns(victim.id)
  const killedMs = performance.now()
  victim.kill('SIGKILL')
  await until(async () => (await store.heldTaskRuns(victim.id)).length === 0, 'everything is recovered')
  const tookMs = performance.now() - killedMs
  await replace(victim)
  writeFileSync(files.gate, '')
  await until(async () => (await views()).every(({ result }) => result !== null), 'all runs end')
  const running = held.filter(({ status }) => status === 'RUNNING').length
  return {
    wasWatcher: victim.id === watcher,
    tookMs,
    running,
    claimed: held.length - running,
    recoveries: await recoveriesOf(db, victim.id),
    wrong: wrongEnds(await views(), { runs, held, deadId: victim.id, begun: linesOf(files.marks) }),
  }
}

interface WaitingRun {
  readonly id: RunId
  readonly onCrash: 'fail' | 'retry'
}

/**
 * Waits until the code of a run has begun in every slot of both replicas, and both have claimed ahead as many as they
 * may. All runs have one task, so that they are claimed in order, and each replica has equally many of both kinds.
 */
async function fill({ store, replicas }: KillScene, slots: number, files: tasks.GatePayload): Promise<WaitingRun[]> {
  const task = 'gated'
  const lane = await store.internLane({ queue: 'default', task })
  const kinds = Array.from({ length: 2 * (slots + prefetchMax) }, (_, index) => (index % 2 === 0 ? 'fail' : 'retry'))
  const runs = await store.enqueueTaskRuns(kinds.map((onCrash) => ({ task, lane, onCrash, payload: files })))
  await store.wakeQueue('default')
  const isFull = async ({ id }: ReplicaProcess) => (await store.heldTaskRuns(id)).length === slots + prefetchMax
  await until(
    async () => linesOf(files.marks).length === 2 * slots && (await Promise.all(replicas().map(isFull))).every(Boolean),
    'all slots are taken',
  )
  return runs.map(({ id }, index) => ({ id, onCrash: kinds[index] ?? 'fail' }))
}

type View = Awaited<ReturnType<Store['getTaskRuns']>>[number]

/**
 * A run that was RUNNING on the dead replica must be FAILED WORKER_CRASHED and have begun once, or have begun once more
 * elsewhere. Every other run, even if only claimed there, must have begun once, at its first attempt, and elsewhere.
 */
function wrongEnds(ends: readonly View[], { runs, held, deadId, begun }: ExpectedRuns): string[] {
  return ends.flatMap(({ id, status, attempt, replicaId, result }) => {
    const onCrash = runs.find((run) => run.id === id)?.onCrash
    const was = held.find(({ runId }) => runId === id)?.status
    const began = begun.filter((line) => line === id).length
    const code: unknown = Reflect.get(Object(result), 'code')
    const isRight =
      was === 'RUNNING' && onCrash === 'fail'
        ? status === 'FAILED' && code === 'WORKER_CRASHED' && began === 1
        : status === 'SUCCEEDED' && replicaId !== deadId && attempt === (was === 'RUNNING' ? 2 : 1) && began === attempt
    if (isRight) return []
    const there = `onCrash ${onCrash}, ${was ?? 'not'} there`
    return [`run ${id}, ${there}: ${status} ${String(code)}, attempt ${attempt}, begun ${began} times`]
  })
}

interface ExpectedRuns {
  readonly runs: readonly WaitingRun[]
  /** Held by the dead replica when it died. */
  readonly held: readonly HeldRun[]
  readonly deadId: string
  /** A run id for each time that a run began. */
  readonly begun: readonly string[]
}
