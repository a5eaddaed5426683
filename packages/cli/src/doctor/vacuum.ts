/** Group `vacuum`: dead rows, and what keeps them from being removed. */
import type { SnapshotHolder } from '@q/store'
import { long } from '../words/ages.ts'
import { count } from '../words/counts.ts'
import { ok, type Check } from './check.ts'

const heldWarnMs = 10 * 60_000
const heldFailMs = 60 * 60_000
/** A table with fewer dead rows than this is not reported. */
const deadMin = 10_000

const heldXmin: Check = {
  id: 'vacuum.held-xmin',
  async look({ store }) {
    const holders = await store.inspectSnapshots()
    const oldest = holders.find(({ kind, forMs }) => kind === 'slot' || (forMs ?? 0) >= heldWarnMs)
    if (oldest === undefined) return ok('No old snapshot keeps dead rows.')
    return {
      level: (oldest.forMs ?? 0) >= heldFailMs ? 'fail' : 'warn',
      what: culprit(oldest),
      why: 'Dead rows cannot be removed while it lasts; claims slow down with every dead row.',
      fix: ending(oldest),
    }
  },
}

function culprit({ kind, pid, name, user, state, forMs, age, query }: SnapshotHolder): string {
  const since = forMs === null ? `${count(age)} transactions` : long(forMs)
  if (kind === 'slot') return `Replication slot ${name} (${state ?? '?'}) holds a snapshot for ${since}.`
  if (kind === 'prepared') return `Prepared transaction ${name} (${user ?? '?'}) holds a snapshot for ${since}.`
  const last = query === null || query === '' ? '' : `: ${query.replaceAll(/\s+/g, ' ').slice(0, 80)}`
  return `pid ${pid} (${[name, user].filter(Boolean).join(', ')}, ${state ?? '?'}) holds a snapshot for ${since}${last}`
}

function ending({ kind, pid, name }: SnapshotHolder): string {
  if (kind === 'slot') return `SELECT pg_drop_replication_slot('${name}');  if no standby needs it`
  return kind === 'prepared' ? `ROLLBACK PREPARED '${name}';` : `SELECT pg_terminate_backend(${pid});`
}

const deadTuples: Check = {
  id: 'vacuum.dead-rows',
  async look({ store }) {
    const tables = await store.inspectTables()
    const bloated = tables.filter(({ live, dead }) => dead > deadMin && dead > live).toSorted((a, b) => b.dead - a.dead)
    const [worst] = bloated
    if (worst === undefined) return ok('Autovacuum keeps up with dead rows.')
    return {
      level: 'warn',
      what: `q.${worst.table} has ${count(worst.dead)} dead rows and ${count(worst.live)} live ones.`,
      why: 'Claims and heartbeats have to skip them.',
      fix: `VACUUM (ANALYZE) q.${worst.table};  if it does not help, see vacuum.held-xmin`,
    }
  },
}

const autovacuum: Check = {
  id: 'vacuum.autovacuum',
  async look({ server }) {
    const { autovacuum: on, track_counts: counts } = (await server()).settings
    if (on === 'on' && counts === 'on') return ok('Autovacuum is on.')
    return {
      level: 'fail',
      what: `${on === 'on' ? 'track_counts' : 'autovacuum'} is off.`,
      why: 'Dead rows are never removed: every queue on this server slows down until it stops.',
      fix: `ALTER SYSTEM SET ${on === 'on' ? 'track_counts' : 'autovacuum'} = on; SELECT pg_reload_conf();`,
    }
  },
}

export const vacuumChecks: readonly Check[] = [heldXmin, deadTuples, autovacuum]
