/** Tasks that do not end by themselves. */
import { execFileSync } from 'node:child_process'
import { pbkdf2Sync } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { task, type TaskContext } from '@q/task'

/** Makes the file when it begins. */
function forEver({ began }: { began?: string }): never {
  if (began !== undefined) writeFileSync(began, '')
  for (;;);
}
export const timedOut = task({ timeout: '300ms' }, forEver)
export const silent = task({ maxSilent: '300ms' }, forEver)
export const endless = task(forEver)
export const endlessAlone = task({ isolation: 'process' }, forEver)
export const timedOutAlone = task({ isolation: 'process', timeout: '300ms' }, forEver)
export const silentAlone = task({ isolation: 'process', maxSilent: '300ms' }, forEver)
export const where = task((_: unknown) => ({ threadId, pid: process.pid }))
export const whereAlone = task({ isolation: 'process' }, (_: unknown) => ({
  threadId,
  pid: process.pid,
  env: { ...process.env },
}))
/** Beats, and is stopped by its heartbeat. */
export const beats = task({ timeout: '500ms' }, (_: unknown, ctx) => {
  for (;;) ctx.heartbeat()
})
export const beatsAlone = task({ isolation: 'process' }, (_: unknown, ctx) => {
  for (let round = 0; ; round++) ctx.heartbeat(0.25, `round ${round}`)
})
/** Sees that it is to stop, and takes longer to clean up than code that sees nothing is given. */
export const cleansUp = task(async (_: unknown, ctx) => {
  try {
    for (;;) ctx.heartbeat()
  } finally {
    await sleep(1_000)
    ctx.log.info('cleaned up')
  }
})
/** Sees that it is to stop, and comes to an end of its own. */
export const yieldsAlone = task({ isolation: 'process' }, (_: unknown, ctx) => {
  try {
    for (;;) ctx.heartbeat(0.5)
  } catch {
    return 'in order'
  }
})
/** Tells which process it is in, and never ends. */
function tellsAndSpins(_: unknown, ctx: TaskContext): never {
  ctx.heartbeat(0.5, String(process.pid))
  for (;;);
}
export const tellsItsPid = task({ isolation: 'process' }, tellsAndSpins)
export const tellsItsPidAgain = task({ isolation: 'process', onCrash: 'retry' }, tellsAndSpins)
/** Gives a sign more often than its silence may last, for so long and until the gate of that file is open. */
export const talks = task({ maxSilent: '1s' }, ({ ms = 0, until = '/' }: { ms?: number; until?: string }, ctx) => {
  const end = performance.now() + ms
  while (performance.now() < end || !existsSync(until)) ctx.heartbeat()
  return 'talked'
})
/** A native call until a gate is open: the thread cannot be ended before it returns. */
export const sleeps = task(
  { timeout: '1s', concurrency: { key: '/key' } },
  ({ until }: { until: string; key: string }) => {
    execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.1; done', until])
  },
)
export const sleepsAlone = task({ timeout: '1s', isolation: 'process' }, ({ seconds }: { seconds: number }) => {
  execFileSync('sleep', [String(seconds)])
})
/** Busy inside one native call for at least about so long, and cannot beat. Tells how long it was. */
export const derives = task(({ ms }: { ms: number }) => {
  const rounds = 500_000
  const before = process.threadCpuUsage()
  pbkdf2Sync('a', 'b', rounds, 64, 'sha512')
  const { user, system } = process.threadCpuUsage(before)
  const begun = performance.now()
  pbkdf2Sync('a', 'b', Math.ceil((rounds * ms) / ((user + system) / 1_000)), 64, 'sha512')
  return performance.now() - begun
})

/** Blocked in a native call, without CPU time. */
export const naps = task(({ seconds }: { seconds: number }) => void execFileSync('sleep', [String(seconds)]))
/** The same, with a `maxSilent`. */
export const napsSilently = task({ maxSilent: '10m' }, ({ seconds }: { seconds: number }) => {
  execFileSync('sleep', [String(seconds)])
  return 'rested'
})
