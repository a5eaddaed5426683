/** Tasks whose code continues after their run has ended. */
import { AsyncResource } from 'node:async_hooks'
import { existsSync, writeFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { MessagePort, parentPort, threadId } from 'node:worker_threads'
import { task } from '@q/task'

/** What the runs of one thread know of each other. */
const shared = { beats: 0, exits: 0, isVictimHere: false }

export const where = task((_: unknown) => ({ threadId, pid: process.pid }))

/** Continues to send heartbeats after its run has ended. */
export const beatsOn = task((_: unknown, ctx) => {
  const timer = setInterval(() => {
    if (++shared.beats > 20) clearInterval(timer)
    try {
      ctx.heartbeat(0.5, 'of the run before')
    } catch {
      // it may say that the run has ended
    }
  }, 5)
  return threadId
})
/** Gives no sign of life, and ends after some signs of the previous run. */
export const silentBeside = task(async (_: unknown) => {
  for (const before = shared.beats; shared.beats < before + 3;) await sleep(5)
  return threadId
})

/** Asks twice, and ends without waiting for an answer. */
export const asksAndEnds = task((_: unknown, ctx) => {
  void ctx.enqueue('where', {})
  void ctx.enqueue('where', {})
  return threadId
})
export const asks = task(async (_: unknown, ctx) => ({ id: (await ctx.enqueue('where', {})).id, threadId }))

/** Closes the channel to the main thread. */
export const closesItsPort = task((_: unknown, ctx) => {
  parentPort?.close()
  ctx.log.info('received')
  return threadId
})
/** The same, by force. */
export const cutsItsLine = task((_: unknown, ctx) => {
  if (parentPort !== null) Reflect.apply(MessagePort.prototype.close, parentPort, [])
  ctx.log.info('not received')
  return 'done'
})

/** Does not belong to any run. */
const exitByItself = AsyncResource.bind(() => process.exit(5))
/** Keeps its thread busy when it has ended, from `busy` until there is a file; then the thread ends. */
export const diesBehind = task(({ busy, file }: { busy: string; file: string }) => {
  process.nextTick(() => {
    writeFileSync(busy, '')
    while (!existsSync(file));
    exitByItself()
  })
  return threadId
})
/** Soon after it has ended. */
export const rejectsLate = task((_: unknown) => {
  setTimeout(() => void Promise.reject(new Error('too late')), 20)
  return threadId
})
export const exitsLate = task((_: unknown) => {
  setTimeout(() => process.exit(7), 20)
  return threadId
})
/** Ends the process, as far as that is the thread, when another run is there. */
export const exitsBeside = task((_: unknown) => {
  const timer = setInterval(() => {
    if (!shared.isVictimHere) return
    clearInterval(timer)
    shared.exits++
    process.exit(6)
  }, 5)
  return threadId
})
/** Throws, during another run, an error whose text cannot be read. */
export const throwsBeside = task((_: unknown) => {
  const timer = setInterval(() => {
    if (!shared.isVictimHere) return
    clearInterval(timer)
    shared.exits++
    throw Object.assign(new Error('late'), {
      [inspect.custom]() {
        throw new Error('not to be shown')
      },
    })
  }, 5)
  return threadId
})
export const victim = task(async (_: unknown) => {
  shared.isVictimHere = true
  while (shared.exits === 0) await sleep(5)
  await sleep(20)
  return threadId
})

/** After a stop request the timer throws; the function itself cleans up. */
async function beatsByTimer(
  _: unknown,
  ctx: { signal: AbortSignal; heartbeat(): void; log: { info(line: string): void } },
) {
  const timer = setInterval(() => ctx.heartbeat(), 10)
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  await sleep(100)
  clearInterval(timer)
  ctx.log.info('cleaned up')
  ctx.signal.throwIfAborted()
}
export const timedOutByTimer = task({ timeout: '300ms' }, beatsByTimer)
export const timedOutByTimerAlone = task({ timeout: '300ms', isolation: 'process' }, beatsByTimer)

/** Prints a message about other memory. */
export const complains = task({ isolation: 'process' }, (_: unknown) => {
  writeSync(2, 'the GPU is out of memory\n')
  return process.pid
})
/** Keeps some memory after its run has ended: with every run of its child there is more. */
const kept: Buffer[] = []
export const keepsMemory = task({ isolation: 'process', memoryLimitMb: 64 }, (_: unknown) => {
  kept.push(Buffer.alloc(20_000_000, 1))
  return 'kept'
})
export const usesLittle = task({ isolation: 'process', memoryLimitMb: 64 }, async (_: unknown) => {
  await sleep(150) // the memory of its child is measured in the meantime
  return 'little'
})
export const crashes = task({ isolation: 'process' }, (_: unknown) => {
  process.kill(process.pid, 'SIGSEGV')
  for (;;);
})
