/** The wording of the log: a level and a fixed sentence for each event. The facts of the event are written beside it. */
import type { RunnerEvent } from '../main/events.ts'

export type LineLevel = 'debug' | 'info' | 'warn' | 'error'
export type EventLine = readonly [level: LineLevel, sentence: string]

export const failedRun: EventLine = ['warn', 'run failed']

/** Events whose lines depend on more than their kind. */
type Special = 'task-log' | 'destination-log' | 'draining'

export const eventLines: Readonly<Record<Exclude<RunnerEvent['type'], Special>, EventLine>> = {
  'run-started': ['debug', 'run started'],
  'run-ended': ['info', 'run ended'],
  'run-retried': ['info', 'run will be started again'],
  'log-lines-dropped': ['warn', 'dropped lines of task logs: the database did not accept them in time'],
  'schedule-ticked': ['debug', 'schedule enqueued runs'],
  'schedule-failed': ['error', 'could not enqueue the ticks of a schedule; trying again'],
  'lease-lost': ['warn', 'lost lease: the result of this run does not count'],
  'runs-released': ['info', 'released runs'],
  'runs-unroutable': ['warn', 'failed runs that no live replica could serve'],
  'runs-recovered': ['warn', 'recovered runs'],
  'recovery-failed': ['error', 'cannot recover a run of a dead replica: the database rejected the update'],
  'stale-heartbeats-removed': ['info', 'removed heartbeats of replicas that stopped long ago'],
  'loop-failed': ['error', 'a round of a loop failed; trying again'],
  'settle-failed': ['error', 'could not write an outcome; trying again'],
  'session-opened': ['debug', 'opened the session for presence and wakes'],
  'session-lost': ['warn', 'lost the session for presence and wakes; polling until it is back'],
  'sessions-unavailable': [
    'warn',
    'a pooler lends connections per transaction: no presence and no wakes, and only heartbeats show that a replica is dead. Set DATABASE_URL_DIRECT',
  ],
  'beat-failed': ['warn', 'heartbeat failed; trying again'],
  'heartbeat-alert': ['error', 'heartbeats fail repeatedly; runs continue, but others may recover them if this lasts'],
  'beat-accepted': ['debug', 'the database accepted a heartbeat'],
  'beat-accepted-again': ['info', 'the database accepts heartbeats again'],
  fenced: ['error', 'stopped runs that others may start: this replica may count as dead'],
  'database-clock-jumped': ['warn', "the database's clock jumped; not judging heartbeats for a while"],
  'process-suspended': ['warn', 'this process was suspended'],
  'health-changed': ['warn', 'health of this replica changed'],
  'registered-again': ['warn', "registered again: this replica's row was missing"],
  'workflows-repaired': ['warn', 'repaired inconsistent workflows'],
  'operation-ended': ['info', 'operation on many runs ended'],
  'deliveries-sent': ['debug', 'a destination accepted reports'],
  'deliveries-failed': ['warn', 'a destination did not accept reports; trying again'],
  'deliveries-given-up': ['error', 'gave up on reports to a destination; q deliveries redeliver <id> sends them again'],
  'destination-unavailable': ['error', 'cannot send to a destination from this replica; trying again'],
  'job-failed': ['error', 'maintenance job failed; the others continue'],
  'connection-lost': ['warn', 'lost a connection; replacing it'],
  'drain-changed': ['info', 'a new request to drain replaced the earlier one'],
  'drain-undone': ['info', 'drain undone; claiming again'],
  'program-too-old': ['error', 'the database requires a newer release of this program; draining, then exit code 57'],
  'drain-cut-short': ['warn', 'drain deadline reached; stopping runs'],
  'left-runs-behind': ['error', 'left with runs that could not be stopped or settled; others will recover them'],
  'drain-step-failed': ['error', 'a step of leaving failed; continuing'],
  'run-unfinished': ['error', 'a run has no outcome; this is a bug in q'],
  drained: ['info', 'drained'],
}
