/** Group `vacuum`: dead rows, and what keeps them from being removed. */
import type { SnapshotHolder } from '@q/store'
import { long } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { ok, type Check, type Surroundings, type CheckOutcome } from './check.ts'

const heldWarnMs = 10 * 60_000
const heldFailMs = 60 * 60_000
/** A standby holds a snapshot at all times; one that is not recent delays about as many dead rows as there were transactions. */
const standbyAgeMax = 100_000
/** A table with fewer dead rows than this is not reported. */
const deadMin = 10_000

const heldXmin: Check = {
  id: 'vacuum.held-xmin',
  async look({ store, server }) {
    const holders = await store.inspectSnapshots()
    const oldest = holders.find(isOld)
    if (oldest === undefined) return (await unseenSessions(server)) ?? ok('No old snapshot keeps dead rows.')
    return {
      level: (oldest.forMs ?? 0) >= heldFailMs ? 'fail' : 'warn',
      what: culprit(oldest),
      why: 'Dead rows cannot be removed while it lasts; claims slow down with every dead row.',
      fix: ending(oldest),
    }
  },
}

/** Of a slot and a standby no time is recorded. An inactive slot keeps its snapshot forever. */
function isOld({ kind, state, forMs, age }: SnapshotHolder): boolean {
  if (kind === 'slot' && state === 'inactive') return true
  return kind === 'slot' || kind === 'standby' ? age >= standbyAgeMax : (forMs ?? 0) >= heldWarnMs
}

function culprit({ kind, pid, name, user, state, forMs, age, query }: SnapshotHolder): string {
  const since = forMs === null ? `${countText(age)} transactions` : long(forMs)
  if (kind === 'slot') return `Replication slot ${name} (${state ?? '?'}) holds a snapshot for ${since}.`
  if (kind === 'standby') return `Standby ${name} (pid ${pid}) holds a snapshot for ${since}.`
  if (kind === 'prepared') return `Prepared transaction ${name} (${user ?? '?'}) holds a snapshot for ${since}.`
  const last = query === null || query === '' ? '' : `: ${query.replaceAll(/\s+/g, ' ').slice(0, 80)}`
  return `pid ${pid} (${[name, user].filter(Boolean).join(', ')}, ${state ?? '?'}) holds a snapshot for ${since}${last}`
}

function ending({ kind, pid, name, state }: SnapshotHolder): string {
  if (kind === 'standby' || (kind === 'slot' && state === 'active'))
    return 'End the longest query on the standby (pg_stat_activity there), or set hot_standby_feedback = off there.'
  if (kind === 'slot') return `SELECT pg_drop_replication_slot('${name}');  if no standby needs it`
  return kind === 'prepared' ? `ROLLBACK PREPARED '${name}';` : `SELECT pg_terminate_backend(${pid});`
}

/** Without the right to see sessions of other users, nothing found means nothing. */
async function unseenSessions(server: Surroundings['server']): Promise<CheckOutcome | undefined> {
  const { seesSessions, user } = await server()
  if (seesSessions) return undefined
  return {
    level: 'note',
    what: `${user} cannot see which snapshots the sessions of other users hold.`,
    why: 'A forgotten transaction of another user would slow down claims, and this check would not find it.',
    fix: `GRANT pg_read_all_stats TO "${user}";  as a superuser`,
  }
}

/** PostgreSQL itself ends safe vacuums in favour of fast ones from here (vacuum_failsafe_age), and all writes at 2.1 billion. */
const xidFail = 1_600_000_000

/** The age of the oldest row in transactions, whether or not a snapshot holds it: at the end the server refuses writes. */
const xidAge: Check = {
  id: 'vacuum.xid-age',
  async look({ server }) {
    const { oldestXid, oldestMultixact } = await server()
    const ids = [
      { kind: 'transaction id', ...oldestXid },
      { kind: 'multixact id', ...oldestMultixact },
    ]
    const [worst] = ids.toSorted((a, b) => b.age - a.age)
    const old = ids.find(({ age, vacuumedAt }) => age > Math.min(2 * vacuumedAt, xidFail))
    if (old === undefined)
      return ok(`The oldest ${worst?.kind} is ${countText(worst?.age ?? 0)} ids old; autovacuum keeps it young enough.`)
    return {
      level: old.age > xidFail ? 'fail' : 'warn',
      what: `The oldest ${old.kind}, in database ${old.database}, is ${countText(old.age)} ids old; autovacuum should have acted at ${countText(old.vacuumedAt)}.`,
      why: 'At 2 100 000 000 the server refuses every write, so nothing is enqueued, claimed or finished.',
      fix: `vacuumdb --freeze --jobs 2 ${old.database};  as a superuser, after vacuum.held-xmin has no finding`,
    }
  },
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
      what: `q.${worst.table} has ${countText(worst.dead)} dead rows and ${countText(worst.live)} live ones.`,
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

export const vacuumChecks: readonly Check[] = [heldXmin, xidAge, deadTuples, autovacuum]
