/**
 * Every way we know in which code harms the place it runs in, each as a task on a thread and as one in a process of
 * its own. The rows of docs/reference/poison.md name them.
 */
import { parentPort } from 'node:worker_threads'
import { task, type Task } from '@q/task'

const retained: unknown[] = []
const million = 1_000_000

/** Kept small enough not to harm the machine: what limits them is far below. */
const shapes = {
  objects() {
    for (;;) retained.push({ a: 1, b: [2], c: `${retained.length}` })
  },
  strings() {
    for (;;) retained.push(JSON.parse(JSON.stringify('x'.repeat(million) + retained.length)))
  },
  map() {
    const map = new Map<number, unknown>()
    for (let key = 0; ; key++) map.set(key, [key])
  },
  arrays() {
    for (;;) retained.push(Array.from({ length: million }, (_, index) => index / 3))
  },
  closures() {
    let last: () => unknown = () => undefined
    for (;;) {
      const before = last
      last = () => before
    }
  },
  jsonParse() {
    retained.push(JSON.parse(`[${'{"a":[1,2,3]},'.repeat(20 * million)}0]`))
  },
  split() {
    for (let round = 0; ; round++) retained.push(`${round}xy`.repeat(20 * million).split('x'))
  },
  /** Not on the heap: no limit of a thread knows them. */
  buffers() {
    for (let count = 0; count < 60; count++) retained.push(Buffer.alloc(16 * million, 1))
    retained.length = 0
    return 'not limited'
  },
}

const poisons = {
  ...shapes,
  exit: () => process.exit(7),
  throwUndefined() {
    throw undefined
  },
  stackOverflow: overflow,
  unclonable: () => ({ socket: new WeakMap() }),
  function: () => () => {},
  async rejection() {
    void Promise.reject(new Error('never handled'))
    await new Promise(() => setInterval(() => {}, 1_000))
  },
  async throwInTimer() {
    setTimeout(() => {
      throw new Error('never caught')
    })
    await new Promise(() => setInterval(() => {}, 1_000))
  },
  lateRejection() {
    setTimeout(() => void Promise.reject(new Error('too late')), 50)
    return 'done'
  },
  strangeMessages() {
    for (const message of [null, 5, 'text', {}, { kind: 'handshake' }, { kind: 'log', key: 1 }])
      parentPort?.postMessage(message)
    return 'sent'
  },
  result50Mb: () => 'x'.repeat(50 * million),
  abort: () => process.abort(),
  segfault() {
    process.kill(process.pid, 'SIGSEGV')
    for (;;);
  },
} as Record<string, () => unknown>

function overflow(): number {
  return 1 + overflow()
}

export const alive = task((_: unknown) => 'alive')
export const onThread: Task<{ poison: string }, unknown> = task(run)
export const inProcess: Task<{ poison: string }, unknown> = task({ isolation: 'process', memoryLimitMb: 128 }, run)

function run({ poison }: { poison: string }): unknown {
  const take = poisons[poison]
  if (take === undefined) throw new Error(`no such poison: ${poison}`)
  return take()
}
/** As long as it may be started again, it dies again. */
export const diesAgain = task({ isolation: 'process', onCrash: 'retry' }, (_: unknown) => {
  process.kill(process.pid, 'SIGSEGV')
  for (;;);
})
/** Ends its thread the first time, and then tells where it is. */
export const diesOnce = task({ onCrash: 'retry' }, (_: unknown, ctx) => {
  if (ctx.attempt === 1) process.exit(1)
  return process.pid
})
