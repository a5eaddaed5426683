/*
 * Who may write to a run: two replicas, two reapers and a user who cancels, each arbitrarily slow.
 *
 * Time has two values: a sign of life is fresh, or it is older than the reap bound. Nothing keeps a replica from being
 * slower than that at any step, so each of them is also its own zombie: SIGSTOP, a partition and a long collection are
 * all "the others did much in between". An answer may get lost after the statement has done its work.
 *
 * CLAIMS bounds how often the run is claimed in all, and with it the search. -DPROGRESS looks for a run that is left
 * lying forever instead: replicas may then die, reapers do not, and the law is about every fair future.
 */
#define REAP 1
#define ATTEMPTS 2
#define CRASHES 1
#ifndef CLAIMS
#define CLAIMS 2
#endif
#ifndef REAPERS
#define REAPERS 2
#endif
#include "row.pml"

mtype = { nothing, lost, cancel };
byte lease[2];             /* what each replica works under; 0: nothing */
byte number[2];            /* ghost: which claim that is */
mtype beatReply[2] = nothing;   /* by the answer to a beat */

#ifdef PROGRESS
bit dead[2];
#define ALIVE(r) (!dead[r])
#define FIRST(r) true
#else
#define ALIVE(r) true
#define FIRST(r) (claims > 0 || r == 0)  /* the replicas are alike: it does not matter which one comes first */
#endif

#define FREE         (status == AVAILABLE || (HELD && BROKEN(CLAIM_WHAT_IS_HELD)))
#define MAY_CLAIM(r) (claims < CLAIMS && FIRST(r) && FREE && !locked)

proctype replica(byte r) {
  byte goal;
  bit once;  /* it saves one checkpoint, and the answer to its outcome gets lost once at most */
end_idle:
  atomic {
    if
    :: ALIVE(r) && MAY_CLAIM(r) -> claimRun(r, RUNNING)
    :: ALIVE(r) && MAY_CLAIM(r) -> claimRun(r, CLAIMED); goal = CLAIMED
    /* liveness/held.ts: the database says that we hold what we do not know of */
    :: ALIVE(r) && HELD && holder == r && !BROKEN(REPLICA_BEATS_ALONE) -> lease[r] = fence; number[r] = live; goto release
    fi;
    if
    :: goal = 0; goto end_idle  /* the answer got lost */
    :: lease[r] = fence; number[r] = live
    fi;
    if
    :: goal == CLAIMED && !BROKEN(BEGIN_WHEN_CLAIMED) -> goto start
    :: else -> goto begin
    fi
  };
start:
  atomic { ALIVE(r) && !locked ->
    if
    :: STARTS(lease[r]) -> startRun(number[r])
    :: else -> goto nothingLeft
    fi;
    if
    :: goto start  /* the answer got lost: asked again, and refused */
    :: goal = 0
    fi;
    if
    :: BROKEN(BEGIN_WHEN_CLAIMED) -> goto execute
    :: else
    fi
  };
begin:
  atomic { ALIVE(r) ->
    /* a zombie whose claim was lost before it began may be the second to begin only what may be started twice */
    LAW(code_begins_no_more_often_than_allowed, mayBegin || (retries && live != number[r]));
    mayBegin = mayBegin && live != number[r] && retries;
    if
    :: goal == CLAIMED -> goto start
    :: else
    fi
  };
execute:
  atomic { ALIVE(r) ->
    if
    :: beatReply[r] == lost -> goto nothingLeft
    :: beatReply[r] == cancel -> goal = CANCELLED; once = 0
    :: beatReply[r] != lost -> goal = SUCCEEDED; once = 0
    :: beatReply[r] != lost -> goal = RETRY; once = 0
#ifndef PROGRESS
    :: !once && !locked -> once = 1;
       if
       :: SAVES(lease[r]) -> LAW(a_lost_lease_writes_nothing, live == number[r]); goto execute
       :: else -> goto nothingLeft
       fi
#endif
    fi
  };
settle:
  atomic { ALIVE(r) && !locked ->
    settleRun(lease[r], number[r], goal);
    if
    :: !once -> once = 1; goto settle  /* the answer got lost: sent again */
    :: goto nothingLeft
    fi
  };
release:
  atomic { ALIVE(r) && !locked -> releaseRun(lease[r], number[r]) };
nothingLeft:
  atomic { lease[r] = 0; number[r] = 0; beatReply[r] = nothing; goal = 0; once = 0; goto end_idle }
}

/* The answer to a beat is what it read, whenever its write lands. */
#define CARRIES(r) (ALIVE(r) && lease[r] != 0 && beatReply[r] == nothing)
inline readBeat(r) {
  if
  :: BEATS(lease[r]) -> LAW(a_lost_lease_writes_nothing, live == number[r]); beatReply[r] = (cancelRequested -> cancel : nothing)
  :: else -> beatReply[r] = lost  /* or ended, if it was settled under this lease: no process reads it then */
  fi
}
inline beat(r) {
  readBeat(r);
  if
  :: beatReply[r] != lost -> writeBeat(lease[r], number[r])
  :: else
  fi
}

proctype beats() {
end:
  do
  :: atomic { CARRIES(0) -> beat(0) }
  :: atomic { CARRIES(1) -> beat(1) }
  od
}

/* One beat at a time may be slow between reading and writing. */
proctype slowBeats() {
  byte shown, ghost;
end:
  do
  :: atomic {
       if
       :: CARRIES(0) && BEATS(lease[0]) -> readBeat(0); shown = lease[0]; ghost = number[0]
       :: CARRIES(1) && BEATS(lease[1]) -> readBeat(1); shown = lease[1]; ghost = number[1]
       fi
     };
     atomic { writeBeat(shown, ghost); shown = 0; ghost = 0 }
  od
}

/* liveness/recover.ts: look; lock and judge again; leave. A beat that lands after the second judgement comes too late. */
#define TRULY_STALE (HELD && (HOLDER_STALE || evidenceAge >= REAP))
#define ACTS(seen)  (HELD && (fence == seen || BROKEN(ACT_WITHOUT_FENCE)) && (STALE || BROKEN(ACT_WITHOUT_SECOND_LOOK)))
proctype reaper() {
  byte seen, ghost;
end:
  do
  :: atomic { STALE || TRULY_STALE ->
       LAW(a_claim_is_judged_stale_exactly_if_it_is, (STALE && TRULY_STALE) || BROKEN(REPLICA_BEATS_ALONE));
       seen = fence; ghost = live
     };
     if
     :: atomic { locked || !ACTS(seen) -> seen = 0; ghost = 0 }
     :: atomic { !locked && ACTS(seen) ->
          locked = !BROKEN(ACT_WITHOUT_LOCK);
          LAW(a_heartbeat_between_look_and_act_saves_the_run, TRULY_STALE)
        };
        atomic {
          LAW(a_stale_claim_is_recovered_once, live == ghost);
          recoverRun();
          locked = 0; seen = 0; ghost = 0
        }
     fi
  od
}

proctype canceller() {
again:
  atomic { !locked ->
    if
    :: CANCELS -> cancelRun(); goto answered
    :: else
    fi
  };
  atomic { !locked ->
    if
    :: status == RUNNING -> requestCancel()
    :: status != RUNNING && !ENDED && !BROKEN(CANCEL_LOOKS_ONCE) -> goto again
    :: else -> LAW(a_cancel_returns_what_happened, ENDED)
    fi
  };
answered:
  skip
}

/* Every sign of life grows old, unless a fresh one comes. */
proctype clock() {
end:
  do
  :: atomic { HELD && (signAge == 0 || (beatFence != 0 && beatAge == 0)) ->
       signAge = 1; evidenceAge = 1; beatAge = (beatFence != 0) }
#ifdef PROGRESS
  :: atomic { dead[0] && replicaAge[0] == 0 -> replicaAge[0] = 1 }
  :: atomic { dead[1] && replicaAge[1] == 0 -> replicaAge[1] = 1 }
#endif
  od
}

#ifdef PROGRESS
proctype death() {
  if
  :: dead[0] = 1
  :: skip
  fi;
  if
  :: dead[1] = 1
  :: skip
  fi
}
ltl every_run_ends { <>(ENDED || (status == AVAILABLE && (claims == CLAIMS || (dead[0] && dead[1])))) }
#endif

init {
  atomic {
    if
    :: retries = 0
    :: retries = 1
    fi;
    run replica(0); run replica(1); run beats(); run clock(); run reaper();
#ifdef PROGRESS
    run death()
#else
    run canceller();
#if REAPERS > 1
    run reaper();
#endif
#ifndef QUICK_BEATS
    run slowBeats()
#endif
#endif
  }
}
