/** The panels of the Grafana dashboard, two in a row, in the order of the questions that a person on call asks. */
export interface Panel {
  readonly title: string
  /** Of Grafana. */
  readonly unit: 'short' | 'ops' | 's' | 'percentunit' | 'bytes'
  readonly queries: readonly { readonly expr: string; readonly legend: string }[]
}

const quantile = (share: number, metric: string, by: string) =>
  `histogram_quantile(${share}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket[$__rate_interval])))`

export const panels: readonly Panel[] = [
  {
    title: 'Attempts per second by outcome',
    unit: 'ops',
    queries: [{ expr: 'sum by (outcome) (rate(q_runs_ended_total[$__rate_interval]))', legend: '{{outcome}}' }],
  },
  {
    title: 'Failed attempts by error code',
    unit: 'ops',
    queries: [{ expr: 'sum by (code) (rate(q_run_errors_total[$__rate_interval]))', legend: '{{code}}' }],
  },
  {
    title: 'Ready runs by queue',
    unit: 'short',
    queries: [{ expr: 'max by (queue) (q_queue_ready)', legend: '{{queue}}' }],
  },
  {
    title: 'Age of the oldest ready run',
    unit: 's',
    queries: [{ expr: 'max by (queue) (q_queue_oldest_seconds)', legend: '{{queue}}' }],
  },
  {
    title: 'Wait from due to started',
    unit: 's',
    queries: [
      { expr: quantile(0.5, 'q_run_wait_seconds', 'queue'), legend: '{{queue}} p50' },
      { expr: quantile(0.95, 'q_run_wait_seconds', 'queue'), legend: '{{queue}} p95' },
    ],
  },
  {
    title: 'Duration of attempts, 95 %',
    unit: 's',
    queries: [{ expr: quantile(0.95, 'q_run_duration_seconds', 'task'), legend: '{{task}}' }],
  },
  {
    title: 'Nodes by state',
    unit: 'short',
    queries: [{ expr: 'max by (state) (q_nodes)', legend: '{{state}}' }],
  },
  {
    title: 'Busy slots',
    unit: 'percentunit',
    queries: [
      { expr: 'sum by (instance) (q_slots{state="busy"}) / sum by (instance) (q_slots)', legend: '{{instance}}' },
    ],
  },
  {
    title: 'Waiting runs by gate',
    unit: 'short',
    queries: [{ expr: 'max by (queue, gate) (q_queue_waiting)', legend: '{{queue}} {{gate}}' }],
  },
  {
    title: 'Needs a person',
    unit: 'short',
    queries: [
      { expr: 'max(q_runs_to_review)', legend: 'runs to review' },
      { expr: 'max(q_lanes_unserved)', legend: 'unserved lanes' },
    ],
  },
  {
    title: 'Recovered runs and crashes',
    unit: 'short',
    queries: [
      { expr: 'sum by (cause) (increase(q_recovered_runs_total[$__rate_interval]))', legend: 'recovered: {{cause}}' },
      { expr: 'sum by (task) (increase(q_runs_crashed_total[$__rate_interval])) > 0', legend: 'crashed: {{task}}' },
    ],
  },
  {
    title: 'From death to recovery, 95 %',
    unit: 's',
    queries: [{ expr: quantile(0.95, 'q_detection_seconds', 'cause'), legend: '{{cause}}' }],
  },
  {
    title: 'Heartbeats: time to accept, 95 %',
    unit: 's',
    queries: [{ expr: quantile(0.95, 'q_heartbeat_seconds', 'instance'), legend: '{{instance}}' }],
  },
  {
    title: 'Failed heartbeats, fences, refused writes',
    unit: 'short',
    queries: [
      { expr: 'sum(increase(q_heartbeat_failures_total[$__rate_interval]))', legend: 'failed heartbeats' },
      { expr: 'sum(increase(q_self_fences_total[$__rate_interval]))', legend: 'self fences' },
      { expr: 'sum(increase(q_refused_writes_total[$__rate_interval]))', legend: 'refused writes' },
    ],
  },
  {
    title: 'Reports to destinations per second',
    unit: 'ops',
    queries: [
      {
        expr: 'sum by (destination, outcome) (rate(q_deliveries_total[$__rate_interval]))',
        legend: '{{destination}} {{outcome}}',
      },
    ],
  },
  {
    title: 'Reports that wait or were given up',
    unit: 'short',
    queries: [
      { expr: 'max by (destination) (q_deliveries_waiting)', legend: '{{destination}} waiting' },
      { expr: 'max by (destination) (q_deliveries_given_up)', legend: '{{destination}} given up' },
    ],
  },
  {
    title: 'Age of the oldest report that waits',
    unit: 's',
    queries: [{ expr: 'max by (destination) (q_deliveries_oldest_seconds)', legend: '{{destination}}' }],
  },
  {
    title: 'Exchanges with the database, 95 %',
    unit: 's',
    queries: [{ expr: quantile(0.95, 'q_exchange_seconds', 'instance'), legend: '{{instance}}' }],
  },
  {
    title: 'Claimed and released runs per second',
    unit: 'ops',
    queries: [
      { expr: 'sum(rate(q_claimed_runs_total[$__rate_interval]))', legend: 'claimed' },
      { expr: 'sum(rate(q_released_runs_total[$__rate_interval]))', legend: 'released' },
    ],
  },
  {
    title: 'Delay of the main thread, 99 %',
    unit: 's',
    queries: [{ expr: 'q_event_loop_delay_seconds{quantile="0.99"}', legend: '{{instance}}' }],
  },
  {
    title: 'CPU by replica, threads and all',
    unit: 'percentunit',
    queries: [
      {
        expr: 'sum by (instance) (rate(q_thread_cpu_seconds_total[$__rate_interval]))',
        legend: '{{instance}} threads',
      },
      { expr: 'rate(process_cpu_seconds_total{job="q"}[$__rate_interval])', legend: '{{instance}} process' },
    ],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    queries: [{ expr: 'process_resident_memory_bytes{job="q"}', legend: '{{instance}}' }],
  },
  {
    title: 'Streams of the page',
    unit: 'short',
    queries: [{ expr: 'sum by (instance) (q_page_streams)', legend: '{{instance}}' }],
  },
]
