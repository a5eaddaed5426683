/*
 * One row of q.task_run with its beats, and the statements of the store that touch it. A statement is one step of the
 * model exactly where the store sends one guarded statement, or holds the row's lock from one to the next; the file it
 * stands for is named above it. `locked`: a transaction has locked the row, and every other writer waits.
 *
 * Ghosts are variables that no process of the system can see and that the laws use: claims are numbered without a gap, and
 * `live` is the number of the claim in force, whatever a broken fence says.
 */
#include "faults.pml"

#define AVAILABLE 0  /* and PENDING: what waits for its time is only claimed later */
#define CLAIMED   1
#define RUNNING   2
#define SUCCEEDED 3
#define FAILED    4
#define CANCELLED 5
#define RETRY     6  /* not a state: what a holder asks for after an error */

byte status = AVAILABLE;
byte fence, attempt, crashes, holder;
bit retries;              /* its onCrash: 1 retry, 0 fail */
bit cancelRequested;
bit locked;
byte signAge;             /* since claimed_at or started_at, whichever is later */
byte beatFence, beatAge;  /* its row of q.task_heartbeat; fence 0: none */
byte replicaAge[2];       /* q.replica_heartbeat */

#define ENDED (status >= SUCCEEDED)
#define HELD  (status == CLAIMED || status == RUNNING)

/* ---- ghosts */
byte claims;              /* so far; the number of the last one */
byte live;                /* the claim in force; 0: none */
byte endedBy;             /* the claim whose holder wrote the end; 0: another process did */
byte evidenceAge;         /* since the last sign of life of the claim in force */
bit mayBegin = 1;         /* the code may begin: it has not begun since it was last allowed */
bit cancelAnswered;       /* a caller got the answer that the run is, or will be, cancelled */

/* ---- laws: bits that are never set, so that the assertion Spin reports ends with the name of the law */
bit a_claim_takes_an_unheld_run;
bit a_lost_lease_writes_nothing;
bit an_ended_run_never_changes;
bit only_the_settling_holder_gets_settled;
bit a_stale_claim_is_recovered_once;
bit a_heartbeat_between_look_and_act_saves_the_run;
bit a_claim_is_judged_stale_exactly_if_it_is;
bit a_cancelled_run_is_not_started_again;
bit a_cancel_returns_what_happened;
bit code_begins_no_more_often_than_allowed;
bit a_retry_run_is_executed_by_one_replica_at_a_time;
#define LAW(name, holds) assert((holds) || name)

/* runs/claim.ts, claimStatement: AVAILABLE to RUNNING, or to CLAIMED when it is claimed ahead. */
inline claimRun(who, to) {
  LAW(a_claim_takes_an_unheld_run, live == 0);
  LAW(a_cancelled_run_is_not_started_again, !cancelAnswered);
  status = to;
  fence = (BROKEN(ATTEMPT_AS_FENCE) -> attempt : fence) + 1;
  attempt = attempt + (to == RUNNING);
  holder = who;
  signAge = 0; evidenceAge = 0;
  claims++; live = claims
}

/* runs/start.ts, startStatement: CLAIMED to RUNNING, by lease. */
#define STARTS(lease) (status == CLAIMED && (fence == lease || BROKEN(START_WITHOUT_FENCE)))
inline startRun(number) {
  LAW(a_lost_lease_writes_nothing, live == number);
  status = RUNNING;
  attempt++;
  signAge = 0; evidenceAge = 0
}

/*
 * runs/transition-statement.ts: the one way out of a state, to `next`, or to CANCELLED where that was requested.
 * revoke: decided by a process that does not hold the run.
 */
byte next;
#define AFTER  ((next == AVAILABLE && cancelRequested && !BROKEN(CANCEL_FORGOTTEN_BY_REQUEUE)) -> CANCELLED : next)
#define RAISES(revoke) ((AFTER == AVAILABLE && !BROKEN(REQUEUE_KEEPS_FENCE)) || status == CLAIMED \
  || (revoke && !(next == FAILED && BROKEN(REAPED_END_KEEPS_FENCE))))
inline transitionRun(revoke, returnAttempt) {
  LAW(an_ended_run_never_changes, !ENDED);
  fence = fence + RAISES(revoke);
  attempt = attempt - (returnAttempt && status == RUNNING);
  status = AFTER;
  cancelRequested = cancelRequested && ENDED;
  beatFence = 0; beatAge = 0; signAge = 0; evidenceAge = 0;
  live = 0; next = 0
}

/* runs/settle.ts and its short way finish.ts: by lease. An end under the same fence was written before, and the answer got lost. */
#define SETTLES(lease) ((status == RUNNING || BROKEN(SETTLE_WITHOUT_STATUS)) && (fence == lease || BROKEN(SETTLE_WITHOUT_FENCE)))
inline settleRun(lease, number, goal) {
  if
  :: SETTLES(lease) ->
     LAW(a_lost_lease_writes_nothing, live == number || ENDED);
     mayBegin = mayBegin || goal == RETRY;
     next = (goal != RETRY -> goal : (attempt < ATTEMPTS -> AVAILABLE : FAILED));
     transitionRun(0, 0);
     endedBy = (ENDED -> number : 0)
  :: else -> LAW(only_the_settling_holder_gets_settled, !(ENDED && fence == lease) || endedBy == number)
  fi
}

/* runs/release.ts: released by lease; the code never began, or has stopped because another replica may start it. */
inline releaseRun(lease, number) {
  if
  :: HELD && fence == lease ->
     LAW(a_lost_lease_writes_nothing, live == number);
     mayBegin = 1;
     next = AVAILABLE;
     transitionRun(0, 1);
     endedBy = (ENDED -> number : 0)
  :: else
  fi
}

/* runs/checkpoint.ts */
#define SAVES(lease) (status == RUNNING && (fence == lease || BROKEN(CHECKPOINT_WITHOUT_FENCE)))

/* runs/cancel.ts, cancelTaskRuns, in two statements: what has not started ends at once; what runs is asked to end. */
#define CANCELS (status == AVAILABLE || status == CLAIMED)
inline cancelRun() { next = CANCELLED; transitionRun(0, 0); endedBy = 0; cancelAnswered = 1 }
inline requestCancel() { cancelRequested = 1; cancelAnswered = 1 }

/*
 * heartbeats/beat-runs.ts, beatStatement: takes no lock on the run, so what it read may be over when it writes. Claimer's
 * and runner's beats are one row here: a claim that starts has the start for a sign.
 */
#define BEATS(lease) (HELD && (fence == lease || BROKEN(BEAT_WITHOUT_FENCE)))
inline writeBeat(lease, number) {
  if
  :: beatFence <= lease || BROKEN(LATE_BEAT_OVERWRITES) -> beatFence = lease; beatAge = 0;
     evidenceAge = (live == number -> 0 : evidenceAge)
  :: else
  fi
}

/* liveness/stale.ts, staleStatement: the layers replica-beat, and claimer-beat or runner-beat. */
#define BEAT_COUNTS  (beatFence == fence || (BROKEN(EARLIER_BEATS_COUNT) && beatFence != 0))
#define HOLDER_STALE (replicaAge[holder] >= REAP && signAge >= REAP)
#define RUN_STALE    (signAge >= REAP && (!BEAT_COUNTS || beatAge >= REAP) && !BROKEN(REPLICA_BEATS_ALONE))
#define STALE        (HELD && (HOLDER_STALE || RUN_STALE))

/* liveness/recover.ts: the action CRASH of transition.ts, under the lock that recoverStaleRuns took before it judged again. */
#define STARTED_AGAIN (status == CLAIMED || (retries -> crashes < CRASHES : BROKEN(CRASH_ALWAYS_RETRIES)))
inline recoverRun() {
  mayBegin = mayBegin || (retries && status == RUNNING);
  next = (STARTED_AGAIN -> AVAILABLE : FAILED);
  crashes = crashes + (status == RUNNING);
  transitionRun(1, 0);
  endedBy = 0
}
