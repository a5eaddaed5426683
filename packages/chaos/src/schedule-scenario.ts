/**
 * A schedule that ticks each second, with three replicas; the one that enqueues is killed (kill -9). Checks that there is
 * exactly one run for every second, by the database's clock, from the creation of the schedule until its last tick.
 */
import { queue } from '@q/client'
import { connect } from '@q/store'
import { dutyHolder, ticksOf, until } from './observations.ts'
import { startReplica, type ReplicaProcess } from './processes.ts'
import type * as tasks from './tasks.ts'

export interface ScheduleReport {
  readonly ticks: number
  /** Seconds without a tick. */
  readonly missed: readonly Date[]
  /** Runs that belong to no tick, and ticks that share a run. */
  readonly doubled: number
  /** Runs that did not succeed. */
  readonly unfinished: number
  /** The longest time from a tick until its run was enqueued. */
  readonly lateMsMax: number
  readonly killed: { readonly wasOnDuty: boolean; readonly afterTicks: number }
}

const schedule = 'each-second'

export async function scheduleScenario(databaseUrl: string, seconds: number): Promise<ScheduleReport> {
  const { db, close } = connect(databaseUrl, { purpose: 'pool' })
  const q = queue<typeof tasks>(databaseUrl)
  const env = { DATABASE_URL: databaseUrl, Q_THREADS: '2' }
  const replicas: ReplicaProcess[] = []
  try {
    replicas.push(...(await Promise.all([startReplica(env), startReplica(env), startReplica(env)])))
    await q.schedule(schedule, { task: 'ticks', cron: '* * * * * *' })
    const made = await db.selectFrom('q.schedule').select('updated_at').executeTakeFirstOrThrow()
    const count = async () => (await ticksOf(db, schedule)).length
    await until(async () => (await count()) >= seconds / 2, 'half of the ticks')
    const onDuty = await dutyHolder(db, 'schedule')
    const victim = replicas.find(({ id }) => id === onDuty) ?? replicas[0]
    if (victim === undefined) throw new Error('There is no replica.')
    const afterTicks = await count()
    victim.kill('SIGKILL')
    await victim.exited
    await until(async () => (await count()) >= seconds, 'all of the ticks')
    await q.unschedule(schedule)
    const live = async () => (await ticksOf(db, schedule)).filter(({ status }) => !ended.has(status))
    await until(async () => (await live()).length === 0, 'all runs end')
    return await report(made.updated_at, { wasOnDuty: victim.id === onDuty, afterTicks })
  } finally {
    for (const replica of replicas) replica.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.exited))
    await q.close()
    await close()
  }

  async function report(made: Date, killed: ScheduleReport['killed']): Promise<ScheduleReport> {
    const ticks = await ticksOf(db, schedule)
    const runs = await db.selectFrom('q.task_run').select('id').where('task', '=', 'ticks').execute()
    const seen = new Set(ticks.map(({ tick }) => tick.getTime()))
    const first = (Math.floor(made.getTime() / 1_000) + 1) * 1_000
    const last = ticks.at(-1)?.tick.getTime() ?? 0
    const expected = Array.from({ length: (last - first) / 1_000 + 1 }, (_, second) => first + second * 1_000)
    return {
      ticks: ticks.length,
      missed: expected.filter((tick) => !seen.has(tick)).map((tick) => new Date(tick)),
      doubled: runs.length - new Set(ticks.map(({ runId }) => runId)).size + (ticks.length - seen.size),
      unfinished: ticks.filter(({ status }) => status !== 'SUCCEEDED').length,
      lateMsMax: Math.max(...ticks.map(({ lateMs }) => lateMs)),
      killed,
    }
  }
}

const ended = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED'])
