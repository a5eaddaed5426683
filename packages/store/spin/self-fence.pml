/*
 * Who executes: a replica that stops itself in time, whatever happens to it, and another one that executes the run as
 * soon as another process has taken it from the first. The run is one that may be started again (onCrash retry).
 *
 * Time is counted in ticks, by the database (ages of signs) and by the replica (since it SENT what was accepted). The
 * assumption on which the law rests is the guard of the clock: a replica that executes looks at its own clocks before
 * the tick after its fence bound, and its code is then stopped. One that is stopped (SIGSTOP, a suspended machine)
 * executes nothing, and looks at its clocks before anything else when it goes on; really its threads may compute for
 * some milliseconds before the main thread has looked.
 *
 * Statements land when they land, also while their sender is stopped, and answers wait until it goes on. Two layers of
 * beats go their own ways: the replica's, and the run's by its lease.
 */
#define REAP 4
#define FENCE (BROKEN(SELF_FENCE_AT_REAP_BOUND) -> REAP : 3)
#define ATTEMPTS 1
#define CRASHES 3
#define CLAIMS 2  /* of the replica; one more of the other */
#include "row.pml"

mtype = { none, replicaBeaten, runBeaten, leaseLost };
byte lease, number;              /* what the replica works under, and which claim that is */
byte shown, shownNumber;         /* the same of the beat under way */
bit claiming, claimedSince;      /* the answer to a claim is under way; was, since it asked what it holds */
bit executing, otherExecutes, stopped, knowsLoss;
mtype answer = none;             /* to the beat under way */
byte ownRun, ownReplica, flight; /* since the sending of: the last accepted sign of the run, of the replica, the beat under way */

#define RUN_OVERDUE     (ownRun >= FENCE && !BROKEN(SELF_FENCE_BY_REPLICA_ALONE))
#define REPLICA_OVERDUE (ownReplica >= FENCE && !BROKEN(SELF_FENCE_BY_RUN_ALONE))
#define OVERDUE         ((RUN_OVERDUE || REPLICA_OVERDUE) && !BROKEN(SELF_FENCE_OFF))
#define ALONE           LAW(a_retry_run_is_executed_by_one_replica_at_a_time, !(executing && !stopped && otherExecutes))

proctype replica() {
  byte claimedFence, claimedNumber;
end_idle:
  atomic { !stopped && claims < CLAIMS && status == AVAILABLE -> claiming = 1; claimedSince = 1; ownRun = 0 };
  /* the claim lands */
  atomic {
    if
    :: status == AVAILABLE && !locked -> claimRun(0, RUNNING); claimedFence = fence; claimedNumber = live
    :: else -> goto nothingLeft
    fi
  };
  /* its answer is heard, or got lost */
  atomic { !stopped ->
    if
    :: claimedFence = 0; claimedNumber = 0; goto nothingLeft
    :: claiming = 0
    fi;
    lease = claimedFence; number = claimedNumber; claimedFence = 0; claimedNumber = 0;
    if
    :: OVERDUE && !BROKEN(LATE_CLAIM_BEGINS) -> goto release
    :: else -> executing = 1; ALONE
    fi
  };
execute:
  if
  :: atomic { !stopped && executing -> executing = 0 }  /* the code returned */
  :: atomic { !stopped && knowsLoss -> executing = 0; goto nothingLeft }
  :: atomic { !stopped && !executing && !knowsLoss -> goto release }  /* stopped when it went on */
  :: atomic { !stopped && executing && OVERDUE ->
       executing = BROKEN(RELEASED_WHILE_EXECUTING);
       goto release
     }
  fi;
  atomic { !locked -> settleRun(lease, number, SUCCEEDED); goto nothingLeft };
release:
  atomic { !locked -> releaseRun(lease, number) };
nothingLeft:
  atomic { !stopped -> claiming = 0; executing = 0; lease = 0; number = 0; knowsLoss = 0; ownRun = REAP; goto end_idle }
}

/*
 * liveness/held.ts: a run that the database says we hold, and that we do not know, is released; unless a claim was in flight
 * at some time between the question and its answer.
 */
proctype reconciles() {
  byte seen, seenNumber;
end:
  do
  :: atomic { !stopped && !claiming && lease == 0 -> claimedSince = 0 };
     atomic { HELD && holder == 0 -> seen = fence; seenNumber = live };
     atomic { !stopped ->
       if
       :: lease == seen || (claimedSince && !BROKEN(CLAIM_UNDER_WAY_RECONCILED)) -> seen = 0; seenNumber = 0; goto end
       :: else
       fi
     };
     atomic { !locked -> releaseRun(seen, seenNumber); seen = 0; seenNumber = 0 }
  od
}

/* The replica hears the answer to its beat. */
inline hear() {
  if
  :: answer == replicaBeaten -> ownReplica = (BROKEN(SELF_FENCE_FROM_ANSWER) -> 0 : flight)
  :: answer == runBeaten && lease == shown -> ownRun = (BROKEN(SELF_FENCE_FROM_ANSWER) -> 0 : flight)
  :: answer == leaseLost && lease == shown -> knowsLoss = 1
  :: else
  fi;
  answer = none; shown = 0; shownNumber = 0; flight = REAP
}

proctype beats() {
end:
  do
  :: atomic { !stopped && ownReplica > 0 -> flight = 0 };
     atomic { replicaAge[0] = 0; answer = replicaBeaten };
     atomic { !stopped -> hear() }
  :: atomic { !stopped && lease != 0 && ownRun > 0 -> shown = lease; shownNumber = number; flight = 0 };
     atomic {
       if
       :: BEATS(shown) -> writeBeat(shown, shownNumber); answer = runBeaten
       :: else -> answer = leaseLost
       fi
     };
     atomic { !stopped -> hear() }
  od
}

/* It has looked before; a beat may land between its judgement under the lock and its commit, and is answered. */
proctype reaper() {
end:
  do
  :: atomic { STALE && holder == 0 && !locked -> locked = 1 };
     atomic { recoverRun(); locked = 0 }
  od
}

proctype other() {
  atomic { claims > 0 && status == AVAILABLE && !locked -> claimRun(1, RUNNING); otherExecutes = 1; ALONE }
}

proctype stops() {
end:
  do
  :: !stopped -> stopped = 1
  :: atomic { stopped ->
       stopped = 0;
       if
       :: answer != none && BROKEN(ANSWER_BEFORE_CLOCK) -> hear()
       :: else
       fi;
       if
       :: OVERDUE && !BROKEN(RESUME_WITHOUT_LOOK) -> executing = 0
       :: else
       fi;
       ALONE
     }
  od
}

inline older(age) { age = (age < REAP -> age + 1 : age) }
proctype clock() {
end:
  do
  :: atomic { !(executing && !stopped && OVERDUE) ->
       signAge = (HELD && signAge < REAP -> signAge + 1 : signAge);
       beatAge = (beatFence != 0 && beatAge < REAP -> beatAge + 1 : beatAge);
       older(replicaAge[0]);
       if
       :: stopped && BROKEN(CLOCK_STANDS_STILL)
       :: else -> older(ownRun); older(ownReplica); older(flight)
       fi
     }
  od
}

init {
  atomic {
    retries = 1;
    ownRun = REAP; flight = REAP;
    run replica(); run beats(); run reaper(); run other(); run reconciles(); run stops(); run clock()
  }
}
