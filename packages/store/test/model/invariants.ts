/**
 * What must be true of the database whatever the model thinks, after every command: read from two looks at it, before
 * and after. Each law is a function that names what breaks it.
 */
import { isTerminal } from '@q/schema'
import type { RunId } from '@q/store'
import { isDeepStrictEqual } from 'node:util'
import type { SeenRun } from './world.ts'

interface Looks {
  readonly before: readonly SeenRun[]
  readonly after: readonly SeenRun[]
  readonly limit: number
}

type Law = (looks: Looks) => string[]

export function brokenLaws(looks: Looks): string[] {
  return Object.entries(laws).flatMap(([law, broken]) => broken(looks).map((what) => `${law}: ${what}`))
}

type Startable = (id: RunId) => boolean

/** Only right after a sweep: runs that can start and wait although their key has a free slot. */
export function waitingBesideFreeSlots(runs: readonly SeenRun[], limit: number, canStart: Startable): string[] {
  const waiting = runs.filter((run) => run.waitingFor === 'concurrency' && canStart(run.id))
  return waiting.filter((run) => holders(runs, run.key).length < limit).map(name)
}

/** Only right after a sweep: runs that hold a key and cannot start. */
export function blockedByHolder(runs: readonly SeenRun[], canStart: Startable): string[] {
  return runs.filter((run) => run.key !== null && run.status === 'AVAILABLE' && !canStart(run.id)).map(name)
}

const laws: Record<string, Law> = {
  'a key gets no more live holders than its limit, however many it had before the limit was lowered': (looks) =>
    keysOf(looks.after).filter((key) => {
      const now = holders(looks.after, key).length
      return now > looks.limit && now > holders(looks.before, key).length
    }),
  'a key above its limit takes no new holder': ({ before, after, limit }) =>
    keysOf(after).filter((key) => {
      const earlier = new Set(holders(before, key).map((run) => run.id))
      const joined = holders(after, key).filter((run) => !earlier.has(run.id))
      return joined.length > 0 && holders(after, key).length > limit
    }),
  'a unique key has one live run': ({ after }) => {
    const live = after.filter((run) => run.uniqueKey !== null && run.finishedAt === null)
    const keys = live.map((run) => `${run.task} ${run.uniqueKey}`)
    return keys.filter((key, index) => keys.indexOf(key) !== index)
  },
  'an ended run never changes within its epoch': ({ before, after }) =>
    pairs(before, after)
      .filter(([old, run]) => isTerminal(old.status) && old.epoch === run.epoch && !isDeepStrictEqual(old, run))
      .map(([, run]) => name(run)),
  'a new epoch begins only after an end, and raises the fence': ({ before, after }) =>
    pairs(before, after)
      .filter(([old, run]) => run.epoch !== old.epoch)
      .filter(([old, run]) => run.epoch !== old.epoch + 1 || !isTerminal(old.status) || run.fence <= old.fence)
      .map(([, run]) => name(run)),
  'no run vanishes': ({ before, after }) => before.filter((old) => !after.some((run) => run.id === old.id)).map(name),
  'a fence never falls': ({ before, after }) =>
    pairs(before, after)
      .filter(([old, run]) => run.fence < old.fence)
      .map(([, run]) => name(run)),
  'a lease is void once the run was released or recovered': ({ before, after }) =>
    pairs(before, after)
      .filter(([old, run]) => isHeld(old) && !isHeld(run) && !isTerminal(run.status) && run.fence === old.fence)
      .map(([, run]) => name(run)),
  'the history only grows': ({ before, after }) =>
    pairs(before, after)
      .filter(([old, run]) => !isDeepStrictEqual(run.history.slice(0, old.history.length), old.history))
      .map(([, run]) => name(run)),
  'a held run has a holder': ({ after }) => after.filter((run) => isHeld(run) && run.holder === null).map(name),
  'only held runs have beats': ({ after }) => after.filter((run) => !isHeld(run) && run.beats > 0).map(name),
  'exactly the live runs of a key occupy its slots': ({ after }) =>
    after.filter((run) => (run.slot !== null) !== (run.key !== null && isLive(run))).map(name),
}

function isHeld(run: SeenRun): boolean {
  return run.status === 'CLAIMED' || run.status === 'RUNNING'
}

function isLive(run: SeenRun): boolean {
  return run.status === 'AVAILABLE' || isHeld(run)
}

function holders(runs: readonly SeenRun[], key: string | null): SeenRun[] {
  return runs.filter((run) => run.key === key && isLive(run))
}

function keysOf(runs: readonly SeenRun[]): string[] {
  return [...new Set(runs.flatMap((run) => run.key ?? []))]
}

function pairs(before: readonly SeenRun[], after: readonly SeenRun[]): [SeenRun, SeenRun][] {
  const old = new Map(before.map((run) => [run.id, run]))
  return after.flatMap((run) => {
    const earlier = old.get(run.id)
    return earlier === undefined ? [] : [[earlier, run]]
  })
}

function name(run: SeenRun): string {
  return `run ${run.id} (${run.status})`
}
