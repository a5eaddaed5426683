/**
 * Chooses the thread for a run: the one with the least expected work among those that may take another run
 * (start-ahead.ts). The same rule decides how many runs to claim and where claimed runs go. Pure.
 */
import type { Load, StartAhead } from './start-ahead.ts'

export interface Room {
  /** Reserves room for a run of this task and returns the slot of its thread; undefined: there is no room. */
  take(task: string): number | undefined
  /** Reserves an idle thread for one run; undefined: there is none. */
  takeWhole(): number | undefined
  /** Whether no thread can take a run of any task. */
  isEmpty(): boolean
  /** The reserved load, by slot. */
  readonly added: readonly Load[]
}

export interface Available {
  /** The load of each thread, by slot; undefined: it takes no runs. */
  readonly loads: readonly (Load | undefined)[]
  /** How many more runs fit into the ring of a thread. */
  readonly ringRoom: (slot: number) => number
  /** Whether busy threads may be handed runs. */
  readonly ahead: boolean
  /** How many idle threads may be used. */
  readonly freeMax: number
  /** The load that other claims in flight have reserved, by slot. */
  readonly reserved: readonly Load[]
}

export function createRoom(
  startAhead: Pick<StartAhead, 'fits' | 'hasRoom' | 'expectedMs'>,
  available: Available,
): Room {
  const { ahead, ringRoom, reserved } = available
  const added = available.loads.map((): Load => ({ runs: 0, ms: 0 }))
  const loads = available.loads.map((load, slot) => load && sumOfLoads([load, reserved[slot] ?? none]))
  let freeLeft = available.freeMax

  function mayTake(load: Load, slot: number): boolean {
    if (load.runs === 0) return freeLeft > 0
    return ahead && startAhead.hasRoom(load) && ringRoom(slot) > (added[slot]?.runs ?? 0)
  }

  function add(slot: number, ms: number): void {
    if (loads[slot]?.runs === 0) freeLeft--
    for (const load of [loads[slot], added[slot]]) {
      if (load === undefined) continue
      load.runs++
      load.ms += ms
    }
  }

  return {
    added,
    take(task) {
      let best: number | undefined
      let least = Number.POSITIVE_INFINITY
      for (const [slot, load] of loads.entries()) {
        if (load === undefined || load.ms >= least || !mayTake(load, slot) || !startAhead.fits(load, task)) continue
        best = slot
        least = load.ms
      }
      if (best !== undefined) add(best, startAhead.expectedMs(task))
      return best
    },
    takeWhole() {
      const slot = loads.findIndex((load) => load?.runs === 0)
      if (slot < 0 || freeLeft < 1) return undefined
      add(slot, Number.POSITIVE_INFINITY)
      return slot
    },
    isEmpty: () => !loads.some((load, slot) => load !== undefined && mayTake(load, slot)),
  }
}

const none: Load = { runs: 0, ms: 0 }

export function sumOfLoads(loads: readonly Load[]): Load {
  return loads.reduce((sum, { runs, ms }) => ({ runs: sum.runs + runs, ms: sum.ms + ms }), none)
}
