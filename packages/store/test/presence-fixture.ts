/** Replicas with sessions of their own, which can be cut. */
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { openReplicaSession, type ReplicaSession } from '@q/store'
import { fixture, type Fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

interface Present {
  readonly num: number
  readonly session: ReplicaSession
  /** Resolves when the session is lost. */
  readonly lost: Promise<void>
}

export interface PresenceFixture extends Fixture {
  present(id: string, own?: { presenceGraceMs?: number }): Promise<Present>
  /** As if its process had been killed: the server sees the session end. */
  cut(num: number): Promise<void>
}

export async function presenceFixture(): Promise<PresenceFixture> {
  const base = await fixture()
  const { url, store, db } = base
  return {
    ...base,
    async present(id, own = {}) {
      const { num } = await store.registerReplica({ ...introduction(id, id), ...own })
      const lost = Promise.withResolvers<void>()
      const session = await openReplicaSession(url, { id, num }, { onWake: () => {}, onLost: () => lost.resolve() })
      onTestFinished(() => session?.close())
      return { num, session: session!, lost: lost.promise }
    },
    async cut(num) {
      await sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${num} AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db)
    },
  }
}
