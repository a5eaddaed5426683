/** Counts of replicas on their own database, which has none at the start of each test. */
import { sql } from 'kysely'
import { beforeEach } from 'vitest'
import { emptyTally, type Flush, type RunTally } from '@q/store'
import { fixture, type Fixture } from './fixture.ts'

export interface TallyFixture extends Fixture {
  /** The rows, by time, queue and task. */
  tallies(): ReturnType<typeof talliesOf>
}

export async function tallyFixture(): Promise<TallyFixture> {
  const base = await fixture()
  const { db } = base
  beforeEach(async () => {
    await sql`TRUNCATE q.run_tally, q.tally_flush, q.error_group, q.error_tally`.execute(db)
  })
  return { ...base, tallies: () => talliesOf(base) }
}

function talliesOf({ db }: Fixture) {
  return db.selectFrom('q.run_tally').selectAll().orderBy('bucket_at').orderBy('queue').orderBy('task').execute()
}

export function counted(task: string, more: Partial<RunTally> = {}): RunTally {
  return { ...emptyTally('default', task), ...more }
}

export function flush(flushNo: number, runs: readonly RunTally[], replicaId = 'r1'): Flush {
  return { replicaId, flushNo, runs, errors: [] }
}
