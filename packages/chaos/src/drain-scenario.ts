/**
 * Replaces replicas one after the other by SIGTERM under constant load, and checks that every run is executed exactly
 * once.
 *
 * Uses two replicas that claim ahead, and a constant stream of short runs of both kinds. A drain has all the time it
 * needs, so no run is stopped: every run must begin once and succeed at its first attempt, and no run may be recovered.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createStore, type RunId } from '@q/store'
import { until } from './observations.ts'
import { startReplica, type ReplicaProcess } from './processes.ts'

export interface DrainReport {
  readonly runs: number
  /** Exit codes of the drained replicas. */
  readonly exitCodes: readonly unknown[]
  /** Runs that did not succeed at their first attempt, or did not begin exactly once. */
  readonly wrong: readonly string[]
  readonly recoveries: number
}

const task = 'short'
const msMax = 200
/** The number of waiting runs at any time. */
const backlog = 40

export async function drainScenario(databaseUrl: string, rounds: number): Promise<DrainReport> {
  const { db, close } = connect(databaseUrl, { purpose: 'pool' })
  const store = createStore(db)
  const folder = mkdtempSync(join(tmpdir(), 'q-drain-'))
  const marks = join(folder, 'marks')
  const env = { DATABASE_URL: databaseUrl, Q_THREADS: '3', Q_PREFETCH: '3', Q_DRAIN_MS: '60000' }
  const ids: RunId[] = []
  const exitCodes: unknown[] = []
  let replicas: ReplicaProcess[] = []

  const ended = async () =>
    Number(
      (
        await db
          .selectFrom('q.task_run')
          .select((row) => row.fn.countAll().as('count'))
          .where('finished_at', 'is not', null)
          .executeTakeFirstOrThrow()
      ).count,
    )
  /** Resolves when this many runs have ended; until then there is always enough work. */
  async function workUntil(count: number): Promise<void> {
    const lane = await store.internLane({ queue: 'default', task })
    await until(async () => {
      const done = await ended()
      const more = Array.from({ length: Math.max(0, backlog - (ids.length - done)) }, (_, index) => ({
        task,
        lane,
        onCrash: index % 2 === 0 ? ('fail' as const) : ('retry' as const),
        payload: { marks, ms: Math.round(Math.random() * msMax) },
      }))
      if (more.length > 0) ids.push(...(await store.enqueueTaskRuns(more)).map(({ id }) => id))
      await store.wakeQueue('default')
      return done >= count
    }, `${count} runs end`)
  }

  try {
    replicas = [await startReplica(env), await startReplica(env)]
    for (let round = 1; round <= rounds; round++) {
      await workUntil((await ended()) + backlog / 2)
      const [leaving, staying] = replicas as [ReplicaProcess, ReplicaProcess]
      leaving.kill('SIGTERM')
      const [code] = (await leaving.exited) as [number | null]
      exitCodes.push(code)
      replicas = [staying, await startReplica(env)]
    }
    await until(async () => (await ended()) === ids.length, 'all runs end')
    const begun = existsSync(marks) ? readFileSync(marks, 'utf8').split('\n') : []
    const wrong = (await store.getTaskRuns(ids)).flatMap(({ id, status, attempt }) => {
      const times = begun.filter((line) => line === id).length
      if (status === 'SUCCEEDED' && attempt === 1 && times === 1) return []
      return [`run ${id}: ${status}, attempt ${attempt}, begun ${times} times`]
    })
    const recoveries = await db.selectFrom('q.recovery').select('run_id').execute()
    return { runs: ids.length, exitCodes, wrong, recoveries: recoveries.length }
  } finally {
    for (const replica of replicas) replica.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.exited))
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}
