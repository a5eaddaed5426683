/*
 * The ring: runs that the main thread hands to one worker thread through shared memory, and their ends on the way back
 * (runner/src: ring-layout.ts, thread/serve.ts, main/executors/thread-feed.ts, main/executors/thread-pool.ts, slot-layout.ts). A step is one
 * access to shared memory, or one message together with what no other thread can see.
 *
 * The main thread hands over, withdraws and collects in any order. The thread may die at every step. Code ends by itself,
 * or only when it sees a stop; its report fits into the ring, or is a message. A run that was withdrawn or returned is
 * handed over again under the next number, and numbers share entries.
 *
 * The main thread may become quiet: then it acts only on messages and on the death of the thread. When no step is left
 * (timeout), every end that had to be signalled must have been collected.
 *
 * Two searches. Without STOPS the main thread changes its mind about signals; with -DSTOPS it stops runs, and ends the thread
 * if a run does not stop.
 */
#include "faults.pml"

#define ENTRIES 2
#define NUMBERS 3
#define RUNS 2
#define DEATHS 1
#define ENTRY(n) ((n) % ENTRIES)
#define DONE 255        /* place of a run: its end was answered */
#define BY_MESSAGE 255  /* result in an entry: the report is a message */

mtype = { free, waiting, begun, ended, withdrawn, declined, signal, report };

/* shared memory */
mtype state[ENTRIES] = free;
byte number[ENTRIES], result[ENTRIES];
bit signalEnds = 1, signalled;
byte stop;  /* number of the run that is to stop */
#define IS(n, wanted) (state[ENTRY(n)] == wanted && (number[ENTRY(n)] == n || BROKEN(STATE_WITHOUT_NUMBER)))

/* the port */
chan orders = [NUMBERS] of { byte };
chan messages = [8] of { mtype, byte };

/* the main thread's own memory */
byte runAt[NUMBERS + 1];  /* run that is open under a number; 0: none */
byte oldest = 1, latest, load;
bit reported[NUMBERS + 1];
bit portOpen = 1, sending = 1, quiet;
byte ending;              /* number of the run for which the thread is being ended */

/* the thread */
bit alive = 1, dying;
byte deaths, current;     /* current: number of the run whose code runs */

/* what really happened; neither side reads it */
byte place[RUNS + 1];     /* 0: to be handed over; a number; DONE */
byte runOf[NUMBERS + 1];
byte begins[RUNS + 1];
bit written[NUMBERS + 1]; /* the thread has written its end */
bit stopAsked[NUMBERS + 1];

bit a_run_begins_at_most_once;
bit a_run_that_was_withdrawn_does_not_begin;
bit a_run_handed_over_is_reported_once_or_withdrawn;
bit a_run_is_reported_only_when_its_code_is_gone;
bit a_run_that_has_not_begun_does_not_fail;
bit a_written_result_survives_its_thread;
bit an_entry_is_reused_only_after_its_run_has_left;
bit a_stop_affects_only_the_run_it_names;
bit a_requested_stop_is_not_lost;
bit ending_a_thread_ends_one_run;
bit an_end_that_must_be_signalled_is_collected;
#define LAW(name, holds) assert((holds) || name)

/* tryBegin, tryDecline and tryWithdraw are one compare-and-exchange; this is the second half of it. */
inline leftWaiting(n, to) {
  state[ENTRY(n)] = to;
  number[ENTRY(n)] = n;
  if
  :: to == begun ->
     current = n;
     begins[runOf[n]]++;
     LAW(ending_a_thread_ends_one_run, ending == 0);
     LAW(a_run_begins_at_most_once, begins[runOf[n]] <= 1);
     LAW(a_run_that_was_withdrawn_does_not_begin, runAt[n] != 0)
  :: else
  fi
}

/* ---- the thread: serve.ts */

#define BROKEN_EXCHANGE (to == (BROKEN(BEGIN_WITHOUT_EXCHANGE) -> begun : (BROKEN(DECLINE_WITHOUT_EXCHANGE) -> declined : ended)))
inline takeOrder() {
  atomic {
    orders?n;
    if
    :: to = begun
    :: to = declined  /* past the fence deadline */
    fi;
    if
    :: IS(n, waiting) && !BROKEN_EXCHANGE -> leftWaiting(n, to)
    :: IS(n, waiting) && BROKEN_EXCHANGE
    :: else -> to = free
    fi
  };
  if
  :: BROKEN_EXCHANGE -> d_step { leftWaiting(n, to) }
  :: else
  fi
}

/* The code ends by itself, or when it sees that it is to stop. */
inline execute() {
  if
  :: true
  :: true ->
end_until_stopped:
     d_step { stop == n || (BROKEN(STOP_WITHOUT_NUMBER) && stop != 0) ->
       LAW(a_stop_affects_only_the_run_it_names, stopAsked[n])
     }
  fi
}

inline writeEnded() { d_step { state[ENTRY(n)] = ended; number[ENTRY(n)] = n; written[n] = 1; current = 0 } }
inline writeResult() { result[ENTRY(n)] = n }
inline sendReport() { result[ENTRY(n)] = BY_MESSAGE; messages!report(n) }

/* A result that fits is in the ring before the state says so; any other report is sent before. */
inline endRun() {
  if
  :: BROKEN(ENDED_BEFORE_RESULT) -> writeEnded(); writeResult()
  :: BROKEN(ENDED_BEFORE_MESSAGE) -> result[ENTRY(n)] = BY_MESSAGE; writeEnded(); sendReport()
  :: BROKEN(SIGNAL_ENDS_READ_TOO_EARLY) -> every = signalEnds; writeResult(); writeEnded()
  :: atomic { !BROKEN(ENDED_BEFORE_RESULT) -> writeResult() }; writeEnded()
  :: atomic { !BROKEN(ENDED_BEFORE_MESSAGE) -> sendReport() }; writeEnded()
  fi
}

/* mustSignal */
inline signalEnd() {
  every = (BROKEN(SIGNAL_ENDS_READ_TOO_EARLY) -> every : signalEnds);
  atomic {
    if
    :: every
    :: !every && empty(orders) -> every = (to != free || !BROKEN(SKIPPED_WITHOUT_SIGNAL))
    :: !every && nempty(orders)
    fi;
    if
    :: every && !signalled -> signalled = 1; messages!signal(0)
    :: else
    fi;
    every = 0; n = 0; to = free
  }
}

proctype thread() {
  byte n;
  mtype to = free;
  bit every;
end_life:
  {
end_idle:
    do
    :: takeOrder();
       if
       :: to == begun -> execute(); endRun()
       :: else
       fi;
       signalEnd()
    od
  } unless { d_step { dying -> dying = 0; alive = 0; current = 0; n = 0; to = free; every = 0 } };
end_dead:
  alive -> goto end_life
}

/* ---- the main thread: thread-feed.ts */

inline release(n) { runAt[n] = 0; reported[n] = 0; written[n] = 0; stopAsked[n] = 0; load-- }

/* The run is answered with its end. */
inline answer(n) {
  LAW(a_run_handed_over_is_reported_once_or_withdrawn, place[runAt[n]] == n);
  place[runAt[n]] = DONE;
  release(n)
}

/* It has not begun, and may be handed over again. */
inline returned(n) { place[runAt[n]] = 0; release(n) }

#define IS_COLLECTED(n) (IS(n, declined) || (IS(n, ended) && (result[ENTRY(n)] != BY_MESSAGE || reported[n])))

/* In one step: states only advance, so the last look decides what is collected. */
inline collectEnds() {
  d_step {
    do
    :: oldest <= latest && runAt[oldest] == 0 -> oldest++
    :: oldest <= latest && runAt[oldest] != 0 && IS_COLLECTED(oldest) ->
       LAW(a_written_result_survives_its_thread,
         IS(oldest, declined) || result[ENTRY(oldest)] == BY_MESSAGE || result[ENTRY(oldest)] == oldest);
       answer(oldest);
       oldest++
    :: else -> break
    od;
    n = 0
  }
}

inline collect() {
  if
  :: BROKEN(SIGNAL_TAKEN_AFTER_COLLECT) -> collectEnds(); signalled = 0
  :: else -> signalled = 0; collectEnds()
  fi
}

inline setSignalEnds() {
  if
  :: BROKEN(COLLECTED_BEFORE_SIGNAL_ENDS) -> collect(); signalEnds = !signalEnds
  :: else -> signalEnds = !signalEnds; collect()
  fi
}

#define SPAN (BROKEN(GAPS_NOT_COUNTED) -> load : latest - oldest + 1)
#define ROOM (load == 0 || SPAN < ENTRIES)
/* The run to hand over next; 0: none. */
#define NEXT (place[1] == 0 -> 1 : (place[2] == 0 -> 2 : 0))

inline putWaiting(n) { state[ENTRY(n)] = waiting; number[ENTRY(n)] = n }

inline handOver(one) {
  latest++;
  oldest = (load == 0 -> latest : oldest);
  LAW(an_entry_is_reused_only_after_its_run_has_left, latest <= ENTRIES || runAt[latest - ENTRIES] == 0);
  load++; runAt[latest] = one; runOf[latest] = one; place[one] = latest;
  putWaiting(latest);
  if
  :: portOpen && sending -> orders!latest
  :: else
  fi
}

inline withdraw(n) {
  if
  :: IS(n, waiting) && BROKEN(WITHDRAW_WITHOUT_EXCHANGE) -> skip; d_step { leftWaiting(n, withdrawn); returned(n) }
  :: atomic { else ->
       if
       :: IS(n, waiting) -> leftWaiting(n, withdrawn); returned(n)
       :: else
       fi
     }
  fi
}

/* run-monitors.ts: a run that can be withdrawn needs no stop. slot-layout.ts: stopRun. */
inline stopOne(n) {
  d_step {
    if
    :: IS(n, waiting) -> leftWaiting(n, withdrawn); answer(n)
    :: else ->
       stopAsked[n] = 1;
       stop = (stop < n || BROKEN(STOP_REPLACES_LATER_STOP) -> n : stop)
    fi
  }
}

/* The thread is ended for one run: no other run begins on it. */
inline endThread(n) {
  sending = BROKEN(THREAD_ENDED_UNDER_NEXT_RUN);
  at = (BROKEN(THREAD_ENDED_UNDER_NEXT_RUN) -> latest + 1 : oldest);
  do
  :: d_step { at <= latest ->
       if
       :: runAt[at] != 0 && IS(at, waiting) -> leftWaiting(at, withdrawn); returned(at)
       :: else
       fi;
       at++
     }
  :: else -> break
  od;
  at = 0;
  if
  :: IS(n, begun) -> ending = n
  :: else -> sending = 1
  fi
}

/* The thread is gone: its messages and its ring are read first. */
inline closeFeed() {
  d_step {
    do
    :: nempty(messages) ->
       messages?kind, n;
       reported[n] = (kind == report && !BROKEN(DEAD_PORT_NOT_READ) -> 1 : reported[n])
    :: empty(messages) -> break
    od;
    portOpen = 0; signalled = 0; kind = free; n = 0
  };
  if
  :: BROKEN(DEAD_RING_NOT_COLLECTED)
  :: else -> collectEnds()
  fi;
  d_step {
    do
    :: oldest > latest -> break
    :: oldest <= latest ->
       if
       :: runAt[oldest] == 0
       :: runAt[oldest] != 0 && IS(oldest, waiting) && !BROKEN(WAITING_RUN_DIES_WITH_THREAD) -> returned(oldest)
       :: else ->
          LAW(a_run_is_reported_only_when_its_code_is_gone, !alive);
          LAW(a_written_result_survives_its_thread, !written[oldest]);
          LAW(a_run_that_has_not_begun_does_not_fail, begins[runAt[oldest]] > 0);
          answer(oldest)
       fi;
       oldest++
    od;
    n = 0
  }
}

/* The next thread gets a ring of its own, and the runs that were handed over between the two lives. */
inline openFeed() {
  d_step {
    do
    :: nempty(orders) -> orders?n
    :: empty(orders) -> break
    od;
    n = 0;
    do
    :: n == ENTRIES -> break
    :: else -> state[n] = free; number[n] = 0; result[n] = 0; n++
    od;
    n = oldest;
    do
    :: n > latest -> break
    :: else ->
       if
       :: runAt[n] != 0 -> putWaiting(n); orders!n
       :: else
       fi;
       n++
    od;
    n = 0; ending = 0; sending = 1; portOpen = 1; alive = 1
  }
}

/* Nothing can move: is a run left that should not be? */
inline lookBack() {
  n = 1;
  do
  :: n > latest -> break
  :: n <= latest && runAt[n] == 0 -> n++
  :: n <= latest && runAt[n] != 0 ->
     LAW(an_end_that_must_be_signalled_is_collected, !IS_COLLECTED(n) || (current != 0 && !signalEnds));
     LAW(a_run_handed_over_is_reported_once_or_withdrawn, IS_COLLECTED(n) || current != 0);
     LAW(a_requested_stop_is_not_lost, current != n || !stopAsked[n]);
     n++
  od;
  n = 0
}

inline chooseOpen() {
  if
  :: runAt[1] != 0 -> n = 1
  :: runAt[2] != 0 -> n = 2
  :: runAt[3] != 0 -> n = 3
  fi
}

#define GONE (!alive || (BROKEN(ANSWERED_BEFORE_GONE) && ending != 0))

proctype mainThread() {
  byte n, at;
  mtype kind = free;
end:
  do
  :: atomic { messages?signal(_) }; collect()
  :: d_step { messages?report(n); reported[n] = (runAt[n] != 0); n = 0 }; collect()
  :: portOpen && GONE -> closeFeed()
  :: !portOpen && !alive -> openFeed()
  :: !quiet -> quiet = 1
#ifndef STOPS
  :: !quiet -> setSignalEnds()
#endif
  :: atomic { !quiet && latest < NUMBERS && ROOM && NEXT != 0 -> n = NEXT; handOver(n); n = 0 }
  :: atomic { !quiet && load > 0 -> chooseOpen() };
     if
     :: true -> withdraw(n)
#ifdef STOPS
     :: true -> stopOne(n)
     :: stopAsked[n] && ending == 0 && portOpen && IS(n, begun) -> endThread(n)
#endif
     fi;
     n = 0
  :: timeout -> d_step { lookBack() }; break
  od
}

proctype deathOfThread() {
end:
  do
  :: d_step { alive && !dying && ending != 0 -> dying = 1 }
  :: d_step { alive && !dying && deaths < DEATHS -> deaths++; dying = 1 }
  :: deaths < DEATHS -> deaths++
  od
}

init {
  atomic { run thread(); run mainThread(); run deathOfThread() }
}
