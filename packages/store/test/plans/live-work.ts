/** The few runs that hot statements are about, one task for each kind of work, made by the verbs themselves. */
import { connect, createStore, enqueueTaskRuns, type Connection, type Lease, type RunId, type Store } from '@q/store'
import { by, leaseOf } from '../fixture.ts'
import type { Candidate } from '../../src/runs/fair-shares.ts'
import { introduction } from '../replica-registration.ts'

/** How many runs one statement is about. */
export const batch = 50

export const holder = { replicaId: 'replica-live', hostname: 'host', pid: 1 }

export interface LiveWork {
  readonly lanes: { readonly wanted: number; readonly unwanted: number }
  /** What a claim may choose from: two priorities of five groups, of which it takes one. */
  readonly heads: readonly Candidate[]
  readonly claimed: readonly Lease[]
  readonly running: readonly Lease[]
  /** RUNNING under a concurrency key that another run waits for. */
  readonly keyed: readonly Lease[]
  /** Concurrency keys that runs wait for and no run holds. */
  readonly openKeys: readonly string[]
}

export const noWork: LiveWork = {
  lanes: { wanted: 1, unwanted: 2 },
  heads: [],
  claimed: [],
  running: [],
  keyed: [],
  openKeys: [],
}

export async function liveWork(url: string): Promise<LiveWork> {
  const connection = connect(url, { purpose: 'control' })
  const store = createStore(connection.db)
  await store.registerReplica({ ...introduction(holder.replicaId), hostname: holder.hostname })
  const work = {
    lanes: {
      wanted: await store.internLane({ queue: 'default', task: 'wanted' }),
      unwanted: await store.internLane({ queue: 'elsewhere', task: 'unwanted' }),
    },
    claimed: await held(store, 'claimed', { prefetch: true }),
    running: await held(store, 'running'),
    keyed: await held(store, 'keyed', { waiting: 2 }),
    openKeys: await openKeys(connection),
  }
  const heads = await makeReady(store, work.lanes.wanted)
  await makeDue(connection)
  await makeDebounced(store)
  await beat(store, work.running)
  await connection.close()
  return { ...work, heads }
}

/** `waiting`: so many runs of each key, of which one gets the slot. */
async function held(
  store: Store,
  task: string,
  { prefetch = false, waiting = 0 }: { prefetch?: boolean; waiting?: number } = {},
): Promise<Lease[]> {
  const lane = await store.internLane({ queue: 'default', task })
  const runs = Array.from({ length: batch * Math.max(1, waiting) }, (_, number) => ({
    task,
    lane,
    payload: {},
    ...(waiting > 0 && { concurrency: { scope: task, key: `${number % batch}` } }),
  }))
  await store.enqueueTaskRuns(runs)
  const claim = { replicaId: holder.replicaId, tasks: [task], queues: [], limit: batch, prefetch }
  return (await store.claimAvailableTaskRuns(claim)).map(leaseOf)
}

/** Twice what a claim takes, in two priorities and five groups. */
async function makeReady(store: Store, lane: number): Promise<Candidate[]> {
  const groups = Array.from({ length: 5 }, (_, number) => `group ${number}`)
  const run = (number: number) => ({ priority: number % 2, group: `group ${number % 5}` })
  await store.enqueueTaskRuns(
    Array.from({ length: batch * 2 }, (_, number) => ({ task: 'wanted', lane, payload: {}, ...run(number) })),
  )
  return groups.map((group) => ({ lane, task: 'wanted', queue: 'default', priority: 0, group, weight: 1 }))
}

async function makeDue({ db }: Connection): Promise<void> {
  const store = createStore(db)
  const lane = await store.internLane({ queue: 'default', task: 'due' })
  await store.enqueueTaskRuns(Array.from({ length: batch * 2 }, () => ({ task: 'due', lane, payload: {}, delayMs: 1 })))
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('task', '=', 'due')
    .execute()
}

async function makeDebounced(store: Store): Promise<void> {
  const lane = await store.internLane({ queue: 'default', task: 'debounced' })
  await store.enqueueTaskRuns(
    Array.from({ length: batch }, (_, number) => ({
      task: 'debounced',
      lane,
      payload: {},
      debounce: { key: `${number}`, forMs: 3_600_000, maxMs: 36_000_000 },
    })),
  )
}

/** Enqueued in a transaction and not promoted after it, as if the process had died in between. */
async function openKeys({ db }: Connection): Promise<string[]> {
  const lane = await createStore(db).internLane({ queue: 'default', task: 'open' })
  const runs = Array.from({ length: batch * 2 }, (_, number) => ({
    task: 'open',
    lane,
    payload: {},
    concurrency: { scope: 'open', key: `${number % batch}` },
  }))
  const made: RunId[] = await db
    .transaction()
    .execute(async (trx) => (await enqueueTaskRuns(trx, runs)).map((run) => run.id))
  const rows = await db.selectFrom('q.task_run').select('gated_key').distinct().where('id', 'in', made).execute()
  return rows.flatMap((row) => row.gated_key ?? [])
}

async function beat(store: Store, leases: readonly Lease[]): Promise<void> {
  const beats = leases.map((lease) => ({ lease, thread: by.thread, ageMs: 0, progress: null, note: null }))
  await store.beatTaskRuns(holder, beats)
}
