/** Faults in who is taken for dead, and in what is started. */
import { storeTest, type Fault } from './fault.ts'

const stale = 'packages/store/src/liveness/stale.ts'
const watch = 'packages/store/src/liveness/watch.ts'
const drain = 'packages/store/src/replicas/drain.ts'
const streak = 'packages/store/src/liveness/streak.ts'
const exchange = 'packages/store/src/runs/work-exchange.ts'

export const livenessFaults: readonly Fault[] = [
  {
    name: 'everybody-has-the-usual-grace',
    why: 'A replica that said it may take longer to come back is reaped by a neighbour that takes less.',
    caughtBy: [storeTest('presence')],
    edits: [{ file: watch, find: 'presence_grace_ms AS "graceMs"', replace: '2500 AS "graceMs"' }],
  },
  {
    name: 'unused-layer-hides-the-next',
    why: 'A reaper that may not judge one layer never recovers runs that are stale by it and by another.',
    caughtBy: [storeTest('reap')],
    edits: [
      { file: stale, find: 'WHEN ${cause} = ANY(${causes}::text[]) AND ${evidence}', replace: 'WHEN ${evidence}' },
      { file: stale, find: 'WHERE cause IS NOT NULL', replace: 'WHERE cause = ANY(${causes}::text[])' },
    ],
  },
  {
    name: 'heartbeats-are-no-evidence',
    why: 'A replica that has sent a heartbeat since its lock was seen missing is considered dead.',
    caughtBy: [storeTest('presence')],
    edits: [
      {
        file: 'packages/store/src/liveness/presence.ts',
        find: "coalesce(extract(epoch FROM ${lastBeat})::text, '')",
        replace: "left(coalesce(extract(epoch FROM ${lastBeat})::text, ''), 0)",
      },
    ],
  },
  {
    name: 'heartbeats-from-the-future-count',
    why: 'After the clock stepped back, the runs of a dead holder stay RUNNING until it has caught up.',
    caughtBy: [storeTest('clock-steps')],
    edits: [{ file: stale, find: 'CASE WHEN ${sign} <= ${clock} + ${threshold} THEN ${sign} END', replace: '${sign}' }],
  },
  {
    name: 'a-leaving-replica-is-undrained',
    why: 'The answer is that the replica claims again, and it leaves.',
    caughtBy: [storeTest('drain')],
    edits: [{ file: drain, find: 'n.leaving_at IS NOT NULL OR n.level IS NULL', replace: 'n.level IS NULL' }],
  },
  {
    name: 'an-undrained-replica-leaves',
    why: 'The drain was undone, and the replica leaves all the same.',
    caughtBy: [storeTest('drain')],
    edits: [{ file: drain, find: 'CASE WHEN n.draining_at IS NOT NULL', replace: 'CASE WHEN true' }],
  },
  {
    name: 'shared-streak-ignores-gaps',
    why: 'After an outage the first heartbeat continues the count, and holders that could not beat are reaped.',
    caughtBy: [storeTest('streak')],
    edits: [{ file: streak, find: 'excluded.last_beat - streak.last_beat > ${gapOf(sql`k`)}', replace: 'k < 0' }],
  },
  {
    name: 'shared-streak-survives-the-server',
    why: 'A reaper judges by heartbeats that an earlier life of the server accepted.',
    caughtBy: [storeTest('streak')],
    edits: [
      {
        file: streak,
        find: 'FROM q.beat_streak WHERE server_start = pg_postmaster_start_time()), false)',
        replace: 'FROM q.beat_streak), false)',
      },
    ],
  },
  {
    name: 'locked-start-is-lost',
    why: 'A prefetched run is released because another session had locked it briefly.',
    caughtBy: [storeTest('work-exchange')],
    edits: [{ file: exchange, find: 'return others.length === 0 ?', replace: 'return others.length >= 0 ?' }],
  },
  {
    name: 'asked-delay-is-jittered',
    why: 'The code asked for a time and gets another.',
    caughtBy: [storeTest('retries')],
    edits: [
      {
        file: 'packages/store/src/runs/transition-statement.ts',
        find: "locked.goal = 'RETRY' AND locked.delay_ms_max IS NOT NULL",
        replace: "locked.goal = 'RETRY'",
      },
    ],
  },
]
