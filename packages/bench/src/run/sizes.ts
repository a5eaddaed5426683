/** How much is measured: the whole benchmark, `--quick`, and the smallest form, for tests. */
export interface Sizes {
  readonly name: 'full' | 'quick' | 'smoke'
  readonly rounds: number
  readonly sweepRounds: number
  readonly noOpJobs: number
  readonly cpu2Jobs: number
  readonly cpu22Jobs: number
  readonly latencyJobs: number
  readonly enqueueMs: number
}

export const sizes: Readonly<Record<Sizes['name'], Sizes>> = {
  full: {
    name: 'full',
    rounds: 5,
    sweepRounds: 1,
    noOpJobs: 30_000,
    cpu2Jobs: 1_000,
    cpu22Jobs: 150,
    latencyJobs: 200,
    enqueueMs: 1_500,
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
  },
}
