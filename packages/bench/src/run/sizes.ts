/** Sizes of the measurements: for the whole benchmark, for `--quick`, and the smallest, for tests. */
export interface Sizes {
  readonly name: 'full' | 'quick' | 'smoke'
  readonly rounds: number
  readonly sweepRounds: number
  readonly noOpJobs: number
  readonly cpu2Jobs: number
  readonly cpu22Jobs: number
  readonly latencyJobs: number
  readonly enqueueMs: number
  /** How long a worker has no jobs before it counts as idle, and how long it is then observed. */
  readonly quietMs: number
  readonly idleMs: number
  /** Further idle replicas: two of them have the duties. */
  readonly idleOthers: number
  /** Threads of the replica whose memory is compared with that of one thread. */
  readonly manyThreads: number
  /** Finished runs in the largest table; other kinds of runs are fewer. */
  readonly tableRows: number
  readonly heldRuns: number
  readonly fleetReplicas: number
  /** How long both replicas run before one is killed. */
  readonly trustMs: number
  /** How long a job blocks its thread. */
  readonly blockMs: number
  readonly storeRows: number
  readonly workflowWidth: number
  readonly signCalls: number
  /** Runs between two measurements of the heaps. */
  readonly heapRuns: number
  /** Runs whose ends are reported to a webhook. */
  readonly reportedRuns: number
  /** Heartbeat monitors in one process, how many processes with one, and for how long. */
  readonly monitors: {
    readonly few: number
    readonly some: number
    readonly many: number
    readonly processes: number
    readonly ms: number
  }
}

export const sizes: Readonly<Record<Sizes['name'], Sizes>> = {
  full: {
    name: 'full',
    rounds: 5,
    sweepRounds: 1,
    noOpJobs: 30_000,
    cpu2Jobs: 2_500,
    cpu22Jobs: 250,
    latencyJobs: 200,
    enqueueMs: 1_500,
    quietMs: 16_000,
    idleMs: 10_000,
    idleOthers: 2,
    manyThreads: 9,
    tableRows: 1_000_000,
    heldRuns: 10_000,
    fleetReplicas: 1_000,
    trustMs: 5_000,
    blockMs: 90_000,
    storeRows: 10_000,
    workflowWidth: 10_000,
    signCalls: 5_000_000,
    monitors: { few: 10, some: 50, many: 100, processes: 10, ms: 20_000 },
    heapRuns: 1_000_000,
    reportedRuns: 30_000,
  },
  quick: {
    name: 'quick',
    rounds: 1,
    sweepRounds: 0,
    noOpJobs: 6_000,
    cpu2Jobs: 300,
    cpu22Jobs: 40,
    latencyJobs: 60,
    enqueueMs: 400,
    quietMs: 12_000,
    idleMs: 3_000,
    idleOthers: 2,
    manyThreads: 9,
    tableRows: 100_000,
    heldRuns: 2_000,
    fleetReplicas: 200,
    trustMs: 5_000,
    blockMs: 10_000,
    storeRows: 2_000,
    workflowWidth: 1_000,
    signCalls: 2_000_000,
    monitors: { few: 10, some: 50, many: 100, processes: 10, ms: 5_000 },
    heapRuns: 100_000,
    reportedRuns: 5_000,
  },
  smoke: {
    name: 'smoke',
    rounds: 1,
    sweepRounds: 0,
    noOpJobs: 300,
    cpu2Jobs: 40,
    cpu22Jobs: 4,
    latencyJobs: 10,
    enqueueMs: 20,
    quietMs: 10,
    idleMs: 100,
    idleOthers: 0,
    manyThreads: 2,
    tableRows: 2_000,
    heldRuns: 50,
    fleetReplicas: 5,
    trustMs: 0,
    blockMs: 200,
    storeRows: 40,
    workflowWidth: 20,
    signCalls: 20_000,
    monitors: { few: 1, some: 1, many: 1, processes: 1, ms: 1_000 },
    heapRuns: 100,
    reportedRuns: 50,
  },
}
