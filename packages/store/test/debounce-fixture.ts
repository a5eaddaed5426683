/** Debounced runs of one task: `run` builds one, `enqueueOne` enqueues it, `runsOf` reads those with a trace. */
import { sql } from 'kysely'
import type { EnqueuedRun, NewRun, RunId, Store } from '@q/store'
import { fixture, type Fixture } from './fixture.ts'

export const hour = 3_600_000

export interface DebouncedRow {
  readonly id: RunId
  readonly status: string
  readonly payload: { readonly n: number }
}

export interface DebounceFixture extends Fixture {
  readonly lane: number
  run(key: string, n: number, more?: Partial<NewRun>): NewRun
  enqueueOne(wanted: NewRun, own?: Store): Promise<EnqueuedRun>
  runsOf(trace: string): Promise<DebouncedRow[]>
}

export async function debounceFixture(): Promise<DebounceFixture> {
  const base = await fixture()
  const { store, db } = base
  const lane = await store.internLane({ queue: 'default', task: 'debounced' })
  return {
    ...base,
    lane,
    run: (key, n, more = {}) => ({
      task: 'debounced',
      lane,
      payload: { n },
      debounce: { key, forMs: hour, maxMs: 10 * hour },
      ...more,
    }),
    enqueueOne: async (wanted, own = store) => (await own.enqueueTaskRuns([wanted]))[0]!,
    async runsOf(trace) {
      const { rows } = await sql<DebouncedRow>`
        SELECT id, status, payload FROM q.task_run WHERE trace = ${trace} ORDER BY id`.execute(db)
      return rows
    },
  }
}
