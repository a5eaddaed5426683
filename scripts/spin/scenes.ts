/** The searches of the sound model: each a model, its size and its claims. All invariants must hold in all of them. */

export interface Scene {
  readonly name: string
  /** File in packages/store/spin. */
  readonly model: 'leases.pml' | 'self-fence.pml' | 'shared-streak.pml' | 'ring.pml'
  readonly defines: readonly string[]
  /** `safety`: no assertion fails in any reachable state. `progress`: in every fair future something good happens. */
  readonly search: 'safety' | 'progress'
}

const leases: Scene = { name: 'leases', model: 'leases.pml', defines: [], search: 'safety' }

const twoReapers: Scene = { ...leases, name: 'two reapers, two claims' }
const threeClaims: Scene = {
  ...leases,
  name: 'one reaper, three claims',
  defines: ['REAPERS=1', 'CLAIMS=3', 'QUICK_BEATS'],
}
export const selfFence: Scene = { name: 'self-fence', model: 'self-fence.pml', defines: [], search: 'safety' }
export const progress: Scene = { ...leases, name: 'every run ends', defines: ['PROGRESS'], search: 'progress' }

export const sharedStreak: Scene = { name: 'shared streak', model: 'shared-streak.pml', defines: [], search: 'safety' }
export const restarts: Scene = {
  ...sharedStreak,
  name: 'recovery while replicas restart',
  defines: ['PROGRESS'],
  search: 'progress',
}

export const ringSignals: Scene = { name: 'ring: signals', model: 'ring.pml', defines: [], search: 'safety' }
export const ringStops: Scene = { ...ringSignals, name: 'ring: stops', defines: ['STOPS'] }

export const scenes: readonly Scene[] = [
  progress,
  twoReapers,
  threeClaims,
  selfFence,
  sharedStreak,
  restarts,
  ringSignals,
  ringStops,
]

/** Everything at once: minutes and gigabytes, so only when asked. */
export const deepScenes: readonly Scene[] = [{ ...leases, name: 'two reapers, three claims', defines: ['CLAIMS=3'] }]

/** Part of the others; most faults show here, and sooner. */
export const oneReaper: Scene = { ...leases, name: 'one reaper, two claims', defines: ['REAPERS=1'] }
