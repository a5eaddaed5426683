/** Group `reach`: the connection between this program and the server. */
import { trySession } from '@q/store'
import { shortDuration } from '../words/ages.ts'
import { isWritable, ok, skipped, type Check, type Surroundings } from './check.ts'

const tries = 20
const slowMs = 50

const roundTrip: Check = {
  id: 'reach.round-trip',
  async look({ store }) {
    const times: number[] = []
    for (let index = 0; index < tries; index++) {
      const begun = performance.now()
      await store.getTaskRuns([])
      await store.nextDueInMs()
      times.push(performance.now() - begun)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const [p50, p95] = [0.5, 0.95].map((part) => sorted[Math.floor(part * (tries - 1))] ?? 0)
    const what = `A statement takes ${shortDuration(p50 ?? 0)} (median), ${shortDuration(p95 ?? 0)} (95 %).`
    if ((p50 ?? 0) < slowMs) return ok(what)
    return {
      level: 'warn',
      what,
      why: 'Every claim and every heartbeat takes at least as long.',
      fix: 'Run q near the database, or look at the load of the server.',
    }
  },
}

const pooler: Check = {
  id: 'reach.pooler',
  async look({ url }) {
    if ((await trySession(url)).lasts)
      return ok('Connections keep their session: no pooler in transaction mode is in between.')
    return {
      level: 'warn',
      what: 'DATABASE_URL goes through a pooler in transaction mode.',
      why: 'Replicas that connect by it alone hold no presence lock: a dead node is noticed after its threshold and a check (90 s by default) instead of 5 s.',
      fix: 'Set DATABASE_URL_DIRECT to the server itself, on every node.',
    }
  },
}

const direct: Check = {
  id: 'reach.direct',
  async look({ env, directUrl }) {
    if (!env['DATABASE_URL_DIRECT']) return skipped('DATABASE_URL_DIRECT is not set.')
    if ((await trySession(directUrl)).lasts) return ok('DATABASE_URL_DIRECT is direct.')
    return {
      level: 'fail',
      what: 'DATABASE_URL_DIRECT goes through a pooler in transaction mode too.',
      why: 'It exists to avoid the pooler: locks, LISTEN and migrations need a session that lasts.',
      fix: 'Point DATABASE_URL_DIRECT at host and port of the PostgreSQL server itself.',
    }
  },
}

const notify: Check = {
  id: 'reach.notify',
  async look(surroundings) {
    const session = await lastingSession(surroundings)
    if (session === undefined) return skipped('There is no lasting session to listen on.')
    if (session.notified && session.lockSeen) return ok('NOTIFY arrives, and the server shows the lock of a session.')
    const what = session.notified ? 'The lock of a session does not appear in pg_locks.' : 'NOTIFY does not arrive.'
    return {
      level: 'warn',
      what,
      why: session.notified
        ? 'Dead nodes are noticed by their heartbeats alone.'
        : 'Replicas find new runs only when they poll.',
      fix: 'Look for a proxy between here and the server that changes the protocol.',
    }
  },
}

const primary: Check = {
  id: 'reach.primary',
  async look({ server }) {
    const facts = await server()
    if (isWritable(facts)) return ok('The server is the primary and can be written to.')
    return {
      level: 'fail',
      what: facts.isStandby ? 'The server is a standby.' : 'Transactions are read-only here.',
      why: 'Nothing can be enqueued, claimed or recovered.',
      fix: 'Point DATABASE_URL at the primary.',
    }
  },
}

function lastingSession({ directUrl }: Surroundings) {
  return trySession(directUrl).then((session) => (session.lasts ? session : undefined))
}

export const reachChecks: readonly Check[] = [primary, roundTrip, pooler, direct, notify]
