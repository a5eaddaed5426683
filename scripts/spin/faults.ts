/**
 * THE faults that are built into the models, one at a time. Each must break a law; a model in which one survives would
 * also let it pass in the store. Their names are those of packages/store/spin/faults.pml.
 */
import { sharedStreak, oneReaper, progress, restarts, ringSignals, ringStops, selfFence, type Scene } from './scenes.ts'

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
    CLAIM_WHAT_IS_HELD: 'A replica claims a run while another replica executes it.',
    SETTLE_WITHOUT_FENCE: 'A zombie ends the run of the next holder.',
    SETTLE_WITHOUT_STATUS: 'An outcome that is sent twice, because the first response was lost, is written twice.',
    START_WITHOUT_FENCE: 'A zombie starts a run that another replica has claimed.',
    CHECKPOINT_WITHOUT_FENCE: 'A zombie overwrites the checkpoint that the next attempt continues from.',
    BEAT_WITHOUT_FENCE: 'A zombie’s heartbeats are accepted and keep a dead run from being recovered.',
    ATTEMPT_AS_FENCE:
      'The number of an attempt that was released, or never began, is used again, and the old lease is valid again.',
    REQUEUE_KEEPS_FENCE:
      'A replica that released a run gets `settled` for it, because the run was cancelled in the meantime.',
    REAPED_END_KEEPS_FENCE: 'The reaped holder gets `settled` for its outcome.',
    ACT_WITHOUT_LOCK: 'The run is settled, or recovered by another reaper, between judging and recovering.',
    ACT_WITHOUT_FENCE: 'A slow reaper recovers a later claim than the one it judged.',
    ACT_WITHOUT_SECOND_LOOK: 'A heartbeat between the reaper’s look and its act does not save the run.',
    EARLIER_BEATS_COUNT: 'A late heartbeat of an earlier claim hides that this claim has none.',
    LATE_BEAT_OVERWRITES: 'A heartbeat of an earlier claim replaces that of the current one, and a live run is reaped.',
    CRASH_ALWAYS_RETRIES: 'A run that must not be started twice is started again after its holder died.',
    BEGIN_WHEN_CLAIMED:
      'Code that begins before RUNNING is committed begins again elsewhere, because CLAIMED runs are requeued.',
    CANCEL_FORGOTTEN_BY_REQUEUE: 'A run with a requested cancel is requeued and started again.',
    CANCEL_LOOKS_ONCE:
      'A run that changes its state between the two statements of a cancel is neither cancelled nor asked to stop.',
  }),
  ...within(progress, {
    REPLICA_BEATS_ALONE:
      'A claim whose response was lost is held forever by a live replica that does not know of it, if only replicas send heartbeats and no replica reads back what it holds.',
  }),
  ...within(selfFence, {
    SELF_FENCE_OFF: 'A replica that is cut off continues to execute while another one executes the same run.',
    SELF_FENCE_AT_REAP_BOUND: 'It stops when other replicas may already have started the run.',
    SELF_FENCE_FROM_ANSWER:
      'It counts from the response to its heartbeat, which was late; the database counts from the arrival.',
    SELF_FENCE_BY_REPLICA_ALONE:
      'The replica’s heartbeats are accepted and the run’s are not: the run is reaped unnoticed.',
    SELF_FENCE_BY_RUN_ALONE:
      'The run’s heartbeats are accepted and the replica’s are not: the run is reaped unnoticed.',
    LATE_CLAIM_BEGINS: 'The response to a claim arrives after the claim was reaped, and the code begins.',
    RESUME_WITHOUT_LOOK: 'After SIGCONT it executes until the response to its next heartbeat reports the lost lease.',
    ANSWER_BEFORE_CLOCK:
      'After SIGCONT it accepts the response to an earlier heartbeat, and does not notice how long it was stopped.',
    CLOCK_STANDS_STILL: 'Its clock does not count while the machine is suspended.',
    RELEASED_WHILE_EXECUTING: 'It releases a run before its code has stopped.',
    CLAIM_UNDER_WAY_RECONCILED:
      'It reads back what it holds, sees a claim whose response arrives a little later, and releases it after its code has begun.',
  }),
  ...within(sharedStreak, {
    STREAK_IGNORES_GAPS:
      'After an outage the first heartbeat continues the count, and a holder that could not send heartbeats is reaped.',
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
    STATE_WITHOUT_NUMBER: 'A command whose entry was reused begins the later run.',
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
