/**
 * The table of all metrics: name, type, labels and meaning. The scrape, docs/reference/metrics.md, the alert rules and
 * the dashboard derive from it. Labels have few values: never run ids, groups, or text from code.
 */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

/** Counted by one replica since its start; its page and its metrics port serve them. */
export const replicaMetrics = {
  q_info: gauge('1; the version of the program.', 'version'),
  q_runs_started_total: counter('Attempts whose code was handed to a thread or child process.', 'queue', 'task'),
  q_runs_ended_total: counter(
    'Attempts that ended; retried: the run will be started again. Runs of dead replicas count where they are recovered.',
    'queue',
    'task',
    'outcome',
  ),
  q_runs_crashed_total: counter(
    'Attempts that ended with the death of their replica, thread or child process.',
    'queue',
    'task',
  ),
  q_run_errors_total: counter('Attempts that failed, by error code.', 'code'),
  q_run_wait_seconds: histogram('Time from when a run was due until it started; first starts only.', 'queue'),
  q_run_duration_seconds: histogram('Duration of attempts.', 'queue', 'task'),
  q_slots: gauge('Number of busy and of free slots.', 'state'),
  q_thread_cpu_seconds_total: counter('CPU time of each worker thread since it was started.', 'thread'),
  q_claimed_runs_total: counter('Runs that this replica claimed.'),
  q_released_runs_total: counter('Runs that this replica released to their queue without an outcome.'),
  q_exchange_seconds: histogram('Duration of round trips that write successes, claim and start runs.'),
  q_heartbeat_seconds: histogram('Time that the database took to accept a heartbeat of this replica.'),
  q_heartbeat_failures_total: counter('Heartbeats of this replica that failed.'),
  q_heartbeat_alerts_total: counter('Number of times that three heartbeats in a row failed.'),
  q_health: gauge('1 for the current health of this replica.', 'state'),
  q_draining: gauge('1 while the replica drains.'),
  q_recovered_runs_total: counter('Runs of dead holders that this replica recovered.', 'cause'),
  q_detection_seconds: histogram(
    'Time from the last sign of life of a dead holder (its lock, or else its heartbeat) until its runs were recovered.',
    'cause',
  ),
  q_refused_writes_total: counter('Runs whose outcome the database refused, because the lease was lost.'),
  q_self_fences_total: counter('Number of times that this replica stopped runs because others may consider it dead.'),
  q_deliveries_total: counter(
    'Reports that this replica sent to destinations, by result: delivered, failed (tried again) or given-up.',
    'destination',
    'outcome',
  ),
  q_loop_failures_total: counter('Rounds of loops and maintenance jobs that failed.'),
  q_log_lines_dropped_total: counter(
    'Log lines that were dropped because the database or the reader of the output was too slow.',
  ),
  q_event_loop_delay_seconds: gauge(
    'Delay of the event loop of the main thread since the last scrape; quantile 1 is the maximum.',
    'quantile',
  ),
  process_cpu_seconds_total: counter('CPU time of the process, user and system.'),
  process_resident_memory_bytes: gauge('Resident memory of the process.'),
  process_start_time_seconds: gauge('When the process started, in seconds since 1970.'),
} satisfies Readonly<Record<string, Metric>>

/** Metrics of the whole cluster: every target has the same values, so queries take the maximum. */
export const clusterMetrics = {
  q_cluster_readable: gauge('1 if the database answered; 0: the other metrics of the cluster are missing.'),
  q_queue_ready: gauge('AVAILABLE runs in the last sample of the queue, counted up to a limit.', 'queue'),
  q_queue_claimed: gauge('CLAIMED runs.', 'queue'),
  q_queue_running: gauge('RUNNING runs.', 'queue'),
  q_queue_waiting: gauge('PENDING runs by gate, counted up to a limit.', 'queue', 'gate'),
  q_queue_oldest_seconds: gauge('Age of the oldest AVAILABLE run; 0: there is none.', 'queue'),
  q_queue_paused: gauge('1 if the queue is paused.', 'queue'),
  q_sample_age_seconds: gauge('Age of the last sample of the queues.'),
  q_nodes: gauge('Nodes that have not stopped.', 'state'),
  q_lanes_unserved: gauge('Lanes with a waiting run that no live node serves; at most 100 are counted.'),
  q_runs_to_review: gauge('Runs recovered as FAILED that no person has reviewed.'),
  q_deliveries_waiting: gauge(
    'Reports that are neither delivered nor given up; at most 1 000 are counted.',
    'destination',
  ),
  q_deliveries_oldest_seconds: gauge('Age of the oldest waiting report; 0: none waits.', 'destination'),
  q_deliveries_given_up: gauge(
    'Reports that were given up and are still kept; at most 10 000 are counted.',
    'destination',
  ),
  q_destination_paused: gauge('1 if the destination is paused.', 'destination'),
} satisfies Readonly<Record<string, Metric>>

export const serverMetrics = {
  q_page_streams: gauge('Open live streams of the page.'),
} satisfies Readonly<Record<string, Metric>>

export const metricTable: Readonly<Record<string, Metric>> = { ...replicaMetrics, ...clusterMetrics, ...serverMetrics }

function counter(help: string, ...labels: string[]): Metric {
  return { type: 'counter', help, labels }
}

function gauge(help: string, ...labels: string[]): Metric {
  return { type: 'gauge', help, labels }
}

function histogram(help: string, ...labels: string[]): Metric {
  return { type: 'histogram', help, labels }
}
