/** A command: a call of the store, after which every run is compared with the model. */
import { inspect, isDeepStrictEqual } from 'node:util'
import type * as fc from 'fast-check'
import { brokenLaws } from './invariants.ts'
import type { GivenLease, Model, ModelRun } from './model.ts'
import { isHeld } from './model.ts'
import type { SeenRun, World } from './world.ts'

export interface Real extends World {
  /** The last look. */
  before: readonly SeenRun[]
  /** Called for each command that was carried out. */
  readonly count: () => void
}

export type Command = fc.AsyncCommand<Model, Real>

interface Act {
  readonly name: string
  readonly when?: (model: Model) => boolean
  readonly run: (model: Model, real: Real) => Promise<void>
}

export function command({ name, when = () => true, run }: Act): Command {
  return {
    toString: () => name,
    check: (model) => when(model),
    run: async (model, real) => {
      await run(model, real)
      real.count()
      const after = await real.look()
      same(brokenLaws({ before: real.before, after, limit: model.limit }), [])
      same(after.map(comparable), [...model.runs.values()].map(foretold))
      for (const row of after) follow(model, row)
      real.before = after
    },
  }
}

/** What the store said or holds, and what the model says. */
export function same(actual: unknown, expected: unknown, what?: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  const shown = [actual, expected].map((value) => inspect(value, { depth: 4 }))
  throw new Error(`${what ?? 'not as foretold'}\nstore: ${shown[0]}\nmodel: ${shown[1]}`)
}

/** Chosen so many times as often as others. */
export function often<T>(times: number, what: T): T[] {
  return Array.from({ length: times }, () => what)
}

/** Numbers choose among what there is, so that a command means something after shrinking. */
export function pick<T>(from: readonly T[], number: number): T | undefined {
  return from[number % from.length]
}

export function storeOf(real: Real, replicaId: string) {
  const store = real.stores.get(replicaId)
  if (store === undefined) throw new Error(`No replica ${replicaId}.`)
  return store
}

/** Ids in any order. */
export function sorted(ids: readonly string[]): string[] {
  return ids.toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
}

export function live({ leases, runs }: Model): GivenLease[] {
  return leases.filter((lease) => runs.get(lease.runId)?.lease === lease.fence)
}

export function lost({ leases, runs }: Model): GivenLease[] {
  return leases.filter((lease) => runs.get(lease.runId)?.lease !== lease.fence)
}

function comparable(row: SeenRun) {
  return { ...compared(row), key: row.key?.split('\u001f').at(-1) ?? null }
}

function foretold(run: ModelRun) {
  return { ...compared(run), key: run.key }
}

const comparedFields = [
  'id',
  'status',
  'waitingFor',
  'attempt',
  'crashes',
  'epoch',
  'holder',
  'uniqueKey',
  'cancelRequested',
  'checkpoint',
  'code',
  'history',
] as const

function compared(run: SeenRun | ModelRun) {
  return Object.fromEntries(comparedFields.map((field) => [field, run[field]]))
}

/** The numbers that the store chooses, and which leases they make count. */
function follow(model: Model, row: SeenRun): void {
  const run = model.runs.get(row.id)
  if (run === undefined) return
  const opens = model.leases.filter((lease) => lease.runId === row.id && lease.fence === row.fence)
  const mayOpen = isHeld(run) ? run.lease : run.endedUnder
  same(
    opens.map((lease) => lease.fence),
    mayOpen === null ? [] : [mayOpen],
  )
  run.fence = row.fence
  run.slot = row.slot
}
