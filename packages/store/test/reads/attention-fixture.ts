/** A fleet on its own database, without runs, records or replicas at the start of each test, and its attention items. */
import { beforeEach, expect } from 'vitest'
import { sql } from 'kysely'
import type { Attention, AttentionKind } from '@q/store'
import { fixture, type Fixture } from '../fixture.ts'
import { fleetOf, type Fleet } from '../fleet.ts'

export interface AttentionFixture extends Fixture {
  readonly fleet: Fleet
  all(): Promise<readonly Attention[]>
  /** The one item that there is, of this kind. */
  only(kind: AttentionKind): Promise<Attention>
}

const tables = [
  'task_run',
  'task_event',
  'recovery',
  'heartbeat_failure',
  'delivery',
  'schedule',
  'schedule_tick',
  'queue',
  'lane',
  'run_tally',
  'queue_sample',
  'error_group',
  'error_tally',
  'task',
]

export async function attentionFixture(): Promise<AttentionFixture> {
  const base = await fixture()
  const { store, db } = base
  const fleet = fleetOf(base)
  beforeEach(async () => {
    await fleet.disband()
    for (const table of tables) await sql`DELETE FROM ${sql.table(`q.${table}`)}`.execute(db)
  })
  const all = async () => (await store.attention()).items
  return {
    ...base,
    fleet,
    all,
    async only(kind) {
      const items = await all()
      expect(items.map((item) => item.kind)).toEqual([kind])
      return items[0]!
    },
  }
}
