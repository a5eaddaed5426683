/**
 * Calls each kind of sign of life many times on a real worker thread of a real replica, and returns the cost of one
 * call.
 */
import { task, type Task, type TaskContext } from '@q/task'

export type HeartbeatCosts = Record<string, number>

interface HeartbeatCall {
  readonly share: number
  sign(ctx: TaskContext, round: number, rounds: number): void
}

const heartbeatCalls: Record<string, HeartbeatCall> = {
  'heartbeat()': { share: 1, sign: (ctx) => ctx.heartbeat() },
  'heartbeat(progress)': { share: 1, sign: (ctx, round, rounds) => ctx.heartbeat(round / rounds) },
  'heartbeat(progress, note)': {
    share: 0.02,
    sign: (ctx, round, rounds) => ctx.heartbeat(round / rounds, 'rows are being read'),
  },
  'log.info(line)': { share: 0.0005, sign: (ctx) => ctx.log.info('a line') },
}

const fencedHeartbeat = "heartbeat(), onCrash: 'retry'"

export const heartbeatNames: readonly string[] = [...Object.keys(heartbeatCalls), fencedHeartbeat]

/** Nanoseconds per call. */
export const measureHeartbeats: Task<{ rounds: number }, HeartbeatCosts> = task(({ rounds }: { rounds: number }, ctx) =>
  costsOf(heartbeatCalls, rounds, ctx),
)

/** For a run that other replicas may start if its replica seems dead: each call reads the clock. */
export const measureFenced: Task<{ rounds: number }, HeartbeatCosts> = task(
  { onCrash: 'retry' },
  ({ rounds }: { rounds: number }, ctx) =>
    costsOf({ [fencedHeartbeat]: { share: 1, sign: () => ctx.heartbeat() } }, rounds, ctx),
)

function costsOf(measured: Record<string, HeartbeatCall>, rounds: number, ctx: TaskContext): HeartbeatCosts {
  return Object.fromEntries(
    Object.entries(measured).map(([name, { share, sign }]) => {
      const calls = Math.max(1, Math.floor(rounds * share))
      for (let call = 0; call < calls / 10; call++) sign(ctx, call, calls) // warm
      const begun = process.hrtime.bigint()
      for (let call = 0; call < calls; call++) sign(ctx, call, calls)
      return [name, Number(process.hrtime.bigint() - begun) / calls]
    }),
  )
}
