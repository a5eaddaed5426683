/**
 * THE faults that are built into the models, one at a time. Each must break a law; a model in which one survives would
 * also let it pass in the store. Their names are those of packages/store/spin/faults.pml.
 */
import { holdFire, oneReaper, progress, restarts, ringSignals, ringStops, selfFence, type Scene } from './scenes.ts'

export interface ModelFault {
  readonly name: string
  readonly scene: Scene
  /** What goes wrong with it. */
  readonly why: string
}

const within = (scene: Scene, faults: Readonly<Record<string, string>>): ModelFault[] =>
  Object.entries(faults).map(([name, why]) => ({ name, scene, why }))

export const modelFaults: readonly ModelFault[] = [
  ...within(oneReaper, {
    CLAIM_WHAT_IS_HELD: 'A run is claimed while another replica executes it.',
    SETTLE_WITHOUT_FENCE: 'A zombie ends the run of the next holder.',
    SETTLE_WITHOUT_STATUS: 'An outcome that is told twice, because its answer got lost, is written twice.',
    START_WITHOUT_FENCE: 'A zombie starts what somebody else has claimed.',
    CHECKPOINT_WITHOUT_FENCE: 'A zombie overwrites what the next attempt continues from.',
    BEAT_WITHOUT_FENCE: 'A zombie is told that it is alive, and its beats keep a dead run from being recovered.',
    ATTEMPT_AS_FENCE: 'An attempt that was given back, or never begun, comes again, and with it the old lease.',
    REQUEUE_KEEPS_FENCE: 'Whoever gave a run back is told that it settled it, when somebody cancelled it meanwhile.',
    REAPED_END_KEEPS_FENCE: 'The reaped holder is told that its outcome counted.',
    ACT_WITHOUT_LOCK: 'Between judging and recovering the run is settled, or recovered by another reaper.',
    ACT_WITHOUT_FENCE: 'A reaper that was slow recovers a later claim than the one it saw.',
    ACT_WITHOUT_SECOND_LOOK: 'A beat that lands between look and act does not save the run.',
    EARLIER_BEATS_COUNT: 'A beat of an earlier claim that lands late hides that nobody beats for this one.',
    LATE_BEAT_OVERWRITES: 'A beat of an earlier claim replaces that of the present one, and a living run is reaped.',
    CRASH_ALWAYS_RETRIES: 'A run that must not be started twice is started again after its holder died.',
    BEGIN_WHEN_CLAIMED: 'Code that has begun before RUNNING is committed begins again elsewhere: CLAIMED is requeued.',
    CANCEL_FORGOTTEN_BY_REQUEUE: 'A run that somebody asked to cancel goes back to the queue and is started again.',
    CANCEL_LOOKS_ONCE: 'A run that moves between the two statements of a cancel is neither cancelled nor asked to end.',
  }),
  ...within(progress, {
    REPLICA_BEATS_ALONE:
      'A claim whose answer got lost is held for ever by a living replica that does not know of it, if only replicas beat and nobody asks the database what it holds.',
  }),
  ...within(selfFence, {
    SELF_FENCE_OFF: 'A replica that is cut off goes on executing while another one executes the same run.',
    SELF_FENCE_AT_REAP_BOUND: 'It stops when others may already have started the run.',
    SELF_FENCE_FROM_ANSWER:
      'It counts from the answer to its beat, which came late; the database counts from its arrival.',
    SELF_FENCE_BY_REPLICA_ALONE:
      'The replica’s beats are accepted and the run’s are not: it is reaped without noticing.',
    SELF_FENCE_BY_RUN_ALONE: 'The run’s beats are accepted and the replica’s are not: it is reaped without noticing.',
    LATE_CLAIM_BEGINS: 'The answer to a claim comes after the claim was reaped, and the code begins.',
    RESUME_WITHOUT_LOOK: 'After SIGCONT it executes until its next beat tells it that the lease is lost.',
    ANSWER_BEFORE_CLOCK:
      'After SIGCONT it believes the answer to a beat sent before, and so does not see how long it was away.',
    CLOCK_STANDS_STILL: 'Its clock does not count while the machine is suspended.',
    GIVEN_BACK_WHILE_EXECUTING: 'It gives a run back before its code has stopped.',
    CLAIM_UNDER_WAY_RECONCILED:
      'It asks what it holds, is told of a claim whose answer comes a little later, and gives it back when its code has begun.',
  }),
  ...within(holdFire, {
    STREAK_IGNORES_GAPS:
      'After an outage the first heartbeat continues the count, and a holder that could not beat is reaped.',
    STREAK_READ_WITHOUT_LAST: 'After an outage a reaper judges before any heartbeat has shown the gap.',
    STREAK_GAP_UP_TO_THRESHOLD:
      'A gap almost as long as the threshold counts as none, and a holder that is about to retry is reaped.',
    STREAK_TRUSTED_AT_ONCE: 'The first heartbeat after a crash is enough to judge heartbeats from before the crash.',
  }),
  ...within(restarts, {
    OWN_TRUST_ALONE:
      'Survivors that restart more often than the threshold lasts never recover the run of a dead holder.',
  }),
  ...within(ringSignals, {
    BEGIN_WITHOUT_EXCHANGE: 'A run begins although the main thread has withdrawn it and handed it over again.',
    WITHDRAW_WITHOUT_EXCHANGE: 'A run is withdrawn after it has begun, and begins again elsewhere.',
    DECLINE_WITHOUT_EXCHANGE:
      'A thread that declines late overwrites the entry of the next run, which is never answered.',
    STATE_WITHOUT_NUMBER: 'An order whose entry was reused begins the later run.',
    GAPS_NOT_COUNTED: 'Withdrawn entries do not count as used, and the entry of an open run is reused.',
    ENDED_BEFORE_RESULT: 'The main thread reads the result of another run, or none.',
    ENDED_BEFORE_MESSAGE: 'The thread dies between the state and the message, and the report of an ended run is lost.',
    DEAD_RING_NOT_COLLECTED:
      'A run that has ended counts as crashed, because its thread died before the end was collected.',
    DEAD_PORT_NOT_READ: 'The same, for a report that was sent as a message.',
    WAITING_RUN_DIES_WITH_THREAD: 'A run that has not begun fails with the thread that it waited for.',
    SIGNAL_ENDS_READ_TOO_EARLY: 'A thread that looks before it writes an end misses that ends are to be signalled.',
    COLLECTED_BEFORE_SIGNAL_ENDS: 'An end between the collection and the request to signal is never collected.',
    SIGNAL_TAKEN_AFTER_COLLECT: 'An end between the collection and the reset of the signal is not signalled.',
    SKIPPED_WITHOUT_SIGNAL: 'A thread whose last run was withdrawn does not signal the ends before it.',
  }),
  ...within(ringStops, {
    ANSWERED_BEFORE_GONE: 'A run is answered when the end of its thread was requested, and its code still acts.',
    STOP_WITHOUT_NUMBER: 'A late stop ends the next run.',
    STOP_REPLACES_LATER_STOP:
      'A late stop of an earlier run replaces the stop of the present one, which does not see it.',
    THREAD_ENDED_UNDER_NEXT_RUN: 'A run ends while its thread is being ended, and the next run dies in its place.',
  }),
]
