/**
 * Classifies every timestamp column of the schema: whether travel() moves it. A test compares this list with the catalog, so
 * a new column must be added here.
 */
export const shifted: Readonly<Record<string, readonly string[]>> = {
  action: ['acted_at'],
  beat_gap: ['last_beat', 'ended_at'],
  beat_streak: ['last_beat'],
  delivery: ['created_at', 'due_at', 'leased_until', 'delivered_at'],
  destination: ['created_at', 'paused_at'],
  duty: ['until'],
  error_group: ['first_seen', 'last_seen', 'muted_until'],
  error_tally: ['bucket_at'],
  heartbeat_failure: ['failed_at'],
  idle: ['since'],
  lane: ['unserved_at', 'unserved_seen_at'],
  operation: ['asked_at', 'stop_asked_at', 'finished_at', 'leased_until'],
  presence: ['gone_at'],
  queue: ['paused_at'],
  queue_sample: ['sampled_at'],
  recovery: ['recovered_at', 'reviewed_at'],
  replica: ['draining_at', 'drain_deadline', 'leaving_at', 'started_at', 'stopped_at'],
  replica_heartbeat: ['last_heartbeat'],
  replica_sample: ['sampled_at'],
  run_tally: ['bucket_at'],
  schedule: ['last_tick', 'next_tick', 'seen_until', 'paused_at', 'updated_at'],
  schedule_tick: ['tick'],
  tally_flush: ['flushed_at'],
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

/** Columns that are compared with a time that travel() cannot move. */
export const fixed: Readonly<Record<string, readonly string[]>> = {
  /** Compared with the start of the server. */
  beat_streak: ['server_start'],
  /** The server start that a presence lock belongs to. */
  presence: ['server_start'],
}

/** Columns in a unique key: an update must not collide with rows that have not moved yet. */
export const keyedByTime: readonly string[] = [
  'beat_gap',
  'error_tally',
  'queue_sample',
  'replica_sample',
  'run_tally',
  'schedule_tick',
]
