/* THE faults that the models must not survive: -DFAULT=NAME builds one in. scripts/spin/faults.ts says what each does. */

#ifndef FAULT
#define FAULT 0
#endif
#define BROKEN(name) (FAULT == name)

#define CLAIM_WHAT_IS_HELD            1
#define SETTLE_WITHOUT_FENCE          2
#define SETTLE_WITHOUT_STATUS         3
#define START_WITHOUT_FENCE           4
#define CHECKPOINT_WITHOUT_FENCE      5
#define BEAT_WITHOUT_FENCE            6
#define ATTEMPT_AS_FENCE              7
#define REQUEUE_KEEPS_FENCE           8
#define REAPED_END_KEEPS_FENCE        9
#define ACT_WITHOUT_LOCK             10
#define ACT_WITHOUT_FENCE            11
#define ACT_WITHOUT_SECOND_LOOK      12
#define EARLIER_BEATS_COUNT          13
#define LATE_BEAT_OVERWRITES         14
#define CRASH_ALWAYS_RETRIES         15
#define BEGIN_WHEN_CLAIMED           16
#define CANCEL_FORGOTTEN_BY_REQUEUE  17
#define CANCEL_LOOKS_ONCE            18
#define REPLICA_BEATS_ALONE          19
#define SELF_FENCE_OFF               20
#define SELF_FENCE_AT_REAP_BOUND     21
#define SELF_FENCE_FROM_ANSWER       22
#define SELF_FENCE_BY_REPLICA_ALONE  23
#define SELF_FENCE_BY_RUN_ALONE      24
#define LATE_CLAIM_BEGINS            25
#define RESUME_WITHOUT_LOOK          26
#define ANSWER_BEFORE_CLOCK          27
#define CLOCK_STANDS_STILL           28
#define RELEASED_WHILE_EXECUTING   29
#define CLAIM_UNDER_WAY_RECONCILED   30
#define STREAK_IGNORES_GAPS          31
#define STREAK_READ_WITHOUT_LAST     32
#define STREAK_GAP_UP_TO_THRESHOLD   33
#define STREAK_TRUSTED_AT_ONCE       34
#define OWN_TRUST_ALONE              35
#define BEGIN_WITHOUT_EXCHANGE       36
#define WITHDRAW_WITHOUT_EXCHANGE    37
#define DECLINE_WITHOUT_EXCHANGE     38
#define STATE_WITHOUT_NUMBER         39
#define GAPS_NOT_COUNTED             40
#define ENDED_BEFORE_RESULT          41
#define ENDED_BEFORE_MESSAGE         42
#define DEAD_RING_NOT_COLLECTED      43
#define DEAD_PORT_NOT_READ           44
#define WAITING_RUN_DIES_WITH_THREAD 45
#define SIGNAL_ENDS_READ_TOO_EARLY   46
#define COLLECTED_BEFORE_SIGNAL_ENDS 47
#define SIGNAL_TAKEN_AFTER_COLLECT   48
#define SKIPPED_WITHOUT_SIGNAL       49
#define ANSWERED_BEFORE_GONE         50
#define STOP_WITHOUT_NUMBER          51
#define STOP_REPLACES_LATER_STOP     52
#define THREAD_ENDED_UNDER_NEXT_RUN  53
