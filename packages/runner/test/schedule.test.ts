/** Schedules: rounds of the loop without waiting (rows are aged), and a replica with schedules of its own code. */
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { readConfig, startRunner } from '@q/runner'
import { optionData, type TaskOptions } from '@q/task'
import type { RunnerEvent } from '../src/main/events.ts'
import { scheduleTick } from '../src/main/claim/schedule.ts'
import { createRouteFinder } from '../src/main/claim/task-routing.ts'
import { eventually, moduleUrl } from './fixture.ts'

async function database() {
  const { url, drop } = await testDatabase()
  const { db, close } = connect(url, { purpose: 'pool' })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  const store = createStore(db)
  const events: RunnerEvent[] = []
  return {
    url,
    db,
    store,
    events,
    round: (replicaId = 'me', own: Store = store) =>
      scheduleTick({
        control: own,
        store: own,
        routeOf: createRouteFinder(own, () => performance.now()),
        replicaId,
        observe: (event) => void events.push(event),
        onEnqueued() {},
      }),
    make: (name: string, cron: string, more: Partial<Parameters<Store['putSchedule']>[0]> = {}) =>
      store.putSchedule({ name, task: 'report', cron, timezone: 'UTC', missed: 'one', payload: {}, ...more }),
    /** As if no replica had looked for that long. */
    age: (ms: number) =>
      sql`UPDATE q.schedule SET seen_until = seen_until - ${ms} * interval '1 ms', next_tick = NULL`.execute(db),
    ticks: async (name: string) =>
      (await db.selectFrom('q.schedule_tick').selectAll().where('schedule', '=', name).execute()).length,
    runs: () => db.selectFrom('q.task_run').selectAll().orderBy('id').execute(),
  }
}

const never = '0 0 1 1 *'
const hour = 3_600_000

/** Every hour, and not now: none of its ticks is just late. */
function halfAnHourAgo(): string {
  return `${(new Date().getUTCMinutes() + 30) % 60} * * * *`
}

describe('a round', () => {
  test('computes the next tick of a new schedule, enqueues nothing, and then sleeps', async () => {
    const { round, make, store, runs } = await database()
    await make('yearly', never)
    expect(await round()).toEqual({ afterMs: 0 })
    expect((await store.getSchedule('yearly'))?.nextTick).toBeInstanceOf(Date)
    expect((await round()).afterMs).toBe(10_000)
    expect(await runs()).toEqual([])
  })

  test('looks only at long intervals without schedules, or with paused ones', async () => {
    const { round, make, store, age, runs } = await database()
    expect(await round()).toEqual({ afterMs: 10_000 })
    await make('hourly', '0 * * * *')
    await store.pauseSchedule('hourly', 'ada')
    await age(5 * hour)
    expect(await round()).toEqual({ afterMs: 10_000 })
    expect(await runs()).toEqual([])
  })

  test.each([
    ['skip', 0],
    ['one', 1],
    ['all', 5],
  ] as const)('makes up for ticks that were missed while no replica ran: %s', async (missed, expected) => {
    const { round, make, age, ticks, store } = await database()
    await make('hourly', halfAnHourAgo(), { missed })
    await age(5 * hour)
    await round()
    expect(await ticks('hourly')).toBe(expected)
    await round()
    expect(await ticks('hourly')).toBe(expected)
    expect((await store.getSchedule('hourly'))!.nextTick!.getTime()).toBeGreaterThan(Date.now() - hour)
  })

  test('enqueues nothing while another replica has the duty, and looks again when the duty expires', async () => {
    const { round, make, store, runs } = await database()
    await make('each second', '* * * * * *')
    const { afterMs } = await round('me', { ...store, takeDuty: async () => ({ mine: false, untilInMs: 700 }) })
    expect(afterMs).toBeGreaterThanOrEqual(700)
    expect(afterMs).toBeLessThanOrEqual(800)
    expect(await runs()).toEqual([])
  })

  test('enqueues each tick once even if several replicas believe that they have the duty', async () => {
    const { round, make, age, store, ticks, runs } = await database()
    await make('each second', '* * * * * *', { missed: 'all' })
    await age(90_000)
    const mine: Store = { ...store, takeDuty: async () => ({ mine: true, untilInMs: 0 }) }
    await Promise.all(Array.from({ length: 6 }, (_, n) => round(`replica ${n}`, mine)))
    const all = await runs()
    expect(all.length).toBeGreaterThanOrEqual(90)
    expect(await ticks('each second')).toBe(all.length)
  })

  test('retries a schedule that cannot be enqueued, without delaying others', async () => {
    const { round, make, age, events, ticks, db } = await database()
    await make('a bad one', never)
    await make('good', halfAnHourAgo(), { missed: 'all' })
    await sql`UPDATE q.schedule SET cron = 'nonsense' WHERE name = 'a bad one'`.execute(db)
    await age(5 * hour)
    expect(await round()).toEqual({ afterMs: 1_000 })
    expect(events).toContainEqual(expect.objectContaining({ type: 'schedule-failed', schedule: 'a bad one' }))
    expect(await ticks('good')).toBe(5)
  })

  test('applies the published options of the task; options of the schedule take precedence', async () => {
    const { round, make, age, store, runs } = await database()
    const options: TaskOptions = { queue: 'cpu', priority: 3, concurrency: { key: '/id' }, unique: 'payload' }
    const { queue, ...rest } = optionData(options)
    await store.publishTasks('r', [{ name: 'report', queue, options: { queue, ...rest }, payloadSchema: null }])
    await make('hourly', '0 * * * *', {
      missed: 'all',
      payload: { id: 7 },
      options: { group: 'g', expiresInMs: 9_000 },
    })
    await age(3 * hour)
    await round()
    // The others would be the same run: it is unique.
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run).toMatchObject({ task: 'report', priority: 3, grp: 'g', payload: { id: 7 } })
    expect(run!.concurrency_key).toContain('7')
    expect(run!.expires_at).not.toBeNull()
    expect(await store.listQueues()).toMatchObject([{ queue: 'cpu' }])
  })
})

describe('a replica', () => {
  async function replica(url: string, module: string) {
    const runner = await startRunner({
      databaseUrl: url,
      config: readConfig({ Q_THREADS: '1' }),
      version: '0.0.0',
      taskModules: [moduleUrl(module)],
      observe: () => {},
    })
    onTestFinished(async () => Promise.race([runner.drain(), runner.drain()]))
    return runner
  }

  test('runs the schedules that its code declares, until newer code no longer declares them', async () => {
    const { url, store, runs } = await database()
    await replica(url, 'by-the-clock')
    const ended = await eventually(
      async () => (await runs()).find(({ status }) => status === 'SUCCEEDED'),
      'a run of its schedule succeeds',
    )
    expect(ended).toMatchObject({ task: 'often', result: { said: 'tick' } })
    expect(await store.listSchedules()).toMatchObject([{ name: 'task:often', isOwn: true, cron: '* * * * * *' }])
    await replica(url, 'no-clock')
    expect(await store.listSchedules()).toEqual([])
  })

  test('runs a schedule that is created while it sleeps', async () => {
    const { url, store, make, runs } = await database()
    await replica(url, 'no-clock')
    await make('manual', '* * * * * *', { task: 'often', payload: { say: 'made' } })
    await eventually(async () => (await runs()).find(({ status }) => status === 'SUCCEEDED'), 'a run succeeds')
    expect((await store.getSchedule('manual'))?.lastTick).toBeInstanceOf(Date)
  })
})
