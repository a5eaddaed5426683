/** Tasks of the tests. */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { task } from '@q/task'
import { untilOpen } from '../until-open.ts'

export const echo = task((payload: unknown) => payload)
export const thread = task((_: unknown) => ({ threadId, pid: process.pid }))
export const fails = task((_: unknown) => {
  throw new TypeError('out of luck')
})
export const throwsNothing = task((_: unknown) => {
  throw undefined
})
export const strange = task((_: unknown) => ({ text: 'a\0b\uD800c', bad: BigInt(1).toString(), nan: Number.NaN }))
const strangeEnds = {
  nothing: () => undefined,
  strangeKey: () => ({ a: { 'x\uD800': 1, ok: '😀' } }),
  holes: () => Object.assign([1], { 2: 3 }),
  methods: () => ({ call() {}, kept: 1 }),
  bigint: () => ({ deep: [{ id: 1n }] }),
  deep: () => nested(5_000, (value) => [value]),
  symbol: () => Symbol('s'),
  map: () => ({ map: new Map([['a', 1]]) }),
  getter: () => ({
    a: {
      get b(): unknown {
        throw new Error('not today')
      },
    },
  }),
  longText: () => 'x'.repeat(50_000_000),
  doubling: () => nested(60, (value) => [value, value]),
  strangeError() {
    throw new Error('a\0b\uD800')
  },
  stackIsANumber() {
    throw Object.assign(new Error('odd'), { stack: 7 })
  },
  stackThrows() {
    throw Object.defineProperty(new Error('worse'), 'stack', {
      get() {
        throw new Error('no stack')
      },
    })
  },
  unspeakable() {
    throw Object.create(null)
  },
} satisfies Record<string, () => unknown>
export type StrangeEnd = keyof typeof strangeEnds
export const endsStrangely = task((end: StrangeEnd): unknown => strangeEnds[end]())

function nested(levels: number, wrap: (value: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

export const circular = task((_: unknown) => {
  const self: Record<string, unknown> = {}
  self['self'] = self
  return self
})
export const huge = task((_: unknown) => 'x'.repeat(2_000_000))
export const exits = task((_: unknown) => process.exit(3))
/** For so long, or until the gate of that file is open. */
async function waits({ ms, until }: { ms?: number; until?: string }, { signal }: { signal: AbortSignal }) {
  await (until === undefined ? sleep(ms, undefined, { signal }) : untilOpen(until, signal))
  return 'waited'
}
export const patient = task(waits)
export const patientRetry = task({ onCrash: 'retry' }, waits)
export const spins = task(({ ms }: { ms: number }, ctx) => {
  const end = performance.now() + ms
  let rounds = 0
  while (performance.now() < end) ctx.heartbeat(0.5, `round ${++rounds}`)
  return rounds > 0
})
/** Sees neither signal nor heartbeat. */
function spinsOn({ ms }: { ms: number }): string {
  const end = performance.now() + ms
  while (performance.now() < end);
  return 'done'
}
export const deaf = task(spinsOn)
export const deafRetry = task({ onCrash: 'retry' }, spinsOn)
export const context = task((_: unknown, ctx) => ({
  runId: ctx.runId,
  attempt: ctx.attempt,
  key: ctx.idempotencyKey,
  lease: ctx.lease,
  aborted: ctx.signal.aborted,
}))
/** A native call from `<gate>.begun` until a gate is open: the thread cannot be ended before it returns. */
export const unstoppable = task({ onCrash: 'retry' }, ({ until }: { until: string }) => {
  execFileSync('sh', ['-c', ': > "$0.begun"; until [ -e "$0" ]; do sleep 0.1; done', until])
})
