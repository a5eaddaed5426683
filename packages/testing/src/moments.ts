/**
 * Every moment that the schema keeps, by what time does to it. A test holds this against the catalog: a column that is
 * new must be put somewhere here.
 */
export const moving: Readonly<Record<string, readonly string[]>> = {
  beat_streak: ['last_beat'],
  delivery: ['created_at', 'due_at', 'leased_until', 'delivered_at'],
  destination: ['paused_at'],
  duty: ['until'],
  heartbeat_failure: ['failed_at'],
  idle: ['since'],
  lane: ['unserved_at', 'unserved_seen_at'],
  presence: ['gone_at'],
  queue: ['paused_at'],
  recovery: ['recovered_at'],
  replica: ['draining_at', 'drain_deadline', 'leaving_at', 'started_at', 'stopped_at'],
  replica_heartbeat: ['last_heartbeat'],
  replica_sample: ['sampled_at'],
  schedule: ['last_tick', 'next_tick', 'seen_until', 'paused_at', 'updated_at'],
  schedule_tick: ['tick'],
  task: ['published_at'],
  task_attempt: ['claimed_at', 'started_at', 'ended_at'],
  task_event: ['happened_at'],
  task_heartbeat: ['sent_at'],
  task_log: ['logged_at'],
  task_run: [
    'created_at',
    'expires_at',
    'run_at',
    'claimed_at',
    'started_at',
    'finished_at',
    'cancel_requested_at',
    'updated_at',
  ],
  unique_period: ['until'],
  workflow: ['created_at', 'updated_at', 'finished_at', 'compensated_at', 'paused_at'],
}

/** Compared with a moment that travel cannot move. */
export const standing: Readonly<Record<string, readonly string[]>> = {
  /** Stands with the server: its start before the heartbeats were accepted. */
  beat_streak: ['server_start'],
  /** With the start of the server: the life of the server a lock belongs to. */
  presence: ['server_start'],
}

/** Their time is part of a unique key: rows on their way must not meet those that have not left yet. */
export const keyedByTime: readonly string[] = ['replica_sample', 'schedule_tick']
