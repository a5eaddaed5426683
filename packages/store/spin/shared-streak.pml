/*
 * The shared streak: heartbeats that the server accepted without a gap, whichever replica sent them
 * (liveness/streak.ts). The holder is alive and sends heartbeats; the server can be cut off or crash at any time; other
 * replicas send heartbeats, fail and restart at any time; a reaper that has just started judges by the row alone.
 *
 * Time is counted in ticks of the database's clock. The holder sends a heartbeat when it is due, and retries one tick
 * after a failure. The law needs one assumption: a server that returns stays reachable for that retry. INTERVAL + GAP +
 * RETRY must be less than THRESHOLD.
 *
 * -DPROGRESS: the holder has died together with the server, the survivors restart at any time, and the law is that its
 * run is recovered in every fair future.
 */
#include "faults.pml"

#define INTERVAL  2
#define RETRY     1
#define THRESHOLD 8
#define GAP       (BROKEN(STREAK_GAP_UP_TO_THRESHOLD) -> THRESHOLD - 1 : 4)

bit up = 1;      /* heartbeats reach the server */
byte holderAge;  /* since the last accepted heartbeat of the holder */
byte timer;      /* until its next attempt */
bit owed;        /* its last attempt failed */
bit row;         /* q.beat_streak: */
byte last, good; /*   since last_beat, since good_since for GAP */
byte own;        /* since the reaper's own heartbeats have been good */
bit reaped;

bit a_live_holder_is_not_reaped;
#define LAW(name, holds) assert((holds) || name)

inline noteBeat() {
  good = (row && (last <= GAP || BROKEN(STREAK_IGNORES_GAPS)) -> good : 0);
  row = 1;
  last = 0
}

#define SHARED  (row && (good >= THRESHOLD || BROKEN(STREAK_TRUSTED_AT_ONCE)) && (last <= GAP || BROKEN(STREAK_READ_WITHOUT_LAST)))
#define TRUSTED (BROKEN(OWN_TRUST_ALONE) -> own >= THRESHOLD : SHARED)
#define STALE   (holderAge >= THRESHOLD)

proctype holder() {
end:
  do
  :: atomic { timer == 0 ->
       if
       :: up -> holderAge = 0; noteBeat(); timer = INTERVAL; owed = 0
       :: else -> timer = RETRY; owed = 1
       fi
     }
  od
}

proctype server() {
end:
  do
  :: atomic { up && !owed -> up = 0 }           /* cut off from all replicas */
  :: atomic { up && !owed -> up = 0; row = 0 }  /* crashed: the row is unlogged */
  :: atomic { !up -> up = 1 }
  od
}

proctype others() {
end:
  do
  :: atomic { up -> noteBeat() }
  od
}

/* The reaper restarts, or one of its own heartbeats fails. */
proctype restarts() {
end:
  do
  :: own > 0 -> own = 0
  od
}

proctype reaper() {
end:
  do
  :: atomic { up && STALE && TRUSTED && !reaped ->
       reaped = 1;
#ifndef PROGRESS
       LAW(a_live_holder_is_not_reaped, false)
#endif
     }
  od
}

inline older(age, most) { age = (age < most -> age + 1 : age) }
proctype clock() {
end:
  do
#ifdef PROGRESS
  :: atomic { row && last < GAP ->  /* some replica beats at least that often */
#else
  :: atomic { timer > 0 -> timer--;
#endif
       older(holderAge, THRESHOLD); older(last, THRESHOLD); older(good, THRESHOLD); older(own, THRESHOLD)
     }
  od
}

#ifdef PROGRESS
ltl every_run_ends { <> reaped }
#endif

init {
  atomic {
#ifndef PROGRESS
    run holder(); run server();
#endif
#ifdef PROGRESS
    run restarts();
#endif
    run others(); run reaper(); run clock()
  }
}
