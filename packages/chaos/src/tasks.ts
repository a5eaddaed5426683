/** Tasks of long runs, of both kinds: one that may be started again after a crash, and one that may not. */
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '@q/task'

export const lasting = task({ onCrash: 'retry' }, async ({ ms }: { ms: number }, ctx) => {
  await sleep(ms, undefined, { signal: ctx.signal })
  return 'done'
})

export const lastingOnce = task({ onCrash: 'fail' }, async ({ ms }: { ms: number }, ctx) => {
  await sleep(ms, undefined, { signal: ctx.signal })
  return 'done'
})

export interface GatePayload {
  /** A file that gets a line with the run id whenever the run begins. */
  readonly marks: string
  /** The run lasts until this file exists. */
  readonly gate: string
}

/** The run sets what happens after a crash. */
export const gated = task(async ({ marks, gate }: GatePayload, ctx) => {
  appendFileSync(marks, `${ctx.runId}\n`)
  while (!existsSync(gate)) await sleep(100, undefined, { signal: ctx.signal })
  return 'done'
})

/** Writes a mark when it begins, and then computes for a while. */
export const short = task(async ({ marks, ms }: { marks: string; ms: number }, ctx) => {
  appendFileSync(marks, `${ctx.runId}\n`)
  await sleep(ms, undefined, { signal: ctx.signal })
  return 'done'
})

export const ticks = task(() => 'ticked')

/** One run at a time per value of the payload. */
export const lastingByKey = task(
  { onCrash: 'fail', concurrency: { key: '/key' } },
  async ({ ms }: { ms: number; key: string }, ctx) => {
    await sleep(ms, undefined, { signal: ctx.signal })
    return 'done'
  },
)

/** Ignores stop requests. */
export const deaf = task((_: unknown) => {
  for (;;);
})

/** Equally busy, but gives signs of life. */
export const beating = task((_: unknown, ctx) => {
  for (;;) ctx.heartbeat()
})

/** A step of a workflow: takes some time, and fails if its payload requests it. */
export const step = task({ onCrash: 'retry' }, async ({ ms = 0, fails = false, list }: StepPayload, ctx) => {
  if (ms > 0) await sleep(ms, undefined, { signal: ctx.signal })
  if (fails) throw new Error('on purpose')
  return list ?? 'done'
})

export interface StepPayload {
  readonly ms?: number
  readonly fails?: boolean
  /** Its result. */
  readonly list?: readonly number[]
}

export interface BriefPayload {
  /** A file that gets a line with the id of a run when its code begins. */
  readonly marks: string
  /** How long it computes. */
  readonly ms: number
}

function brief({ marks, ms }: BriefPayload, { runId }: { readonly runId: string }): number {
  appendFileSync(marks, `${runId}\n`)
  let rounds = 0
  for (const end = performance.now() + ms; performance.now() < end;) rounds++
  return rounds
}

export const briefOnce = task({ onCrash: 'fail' }, brief)
export const briefAgain = task({ onCrash: 'retry' }, brief)
