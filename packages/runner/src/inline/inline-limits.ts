/**
 * Applies limits, cancel requests and progress while code runs inline. The loops share the thread with the code, so they
 * act only while the code awaits. A short run ends before their first round.
 */
import type { ReplicaRegistration } from '@q/store'
import type { ExecuteDeps } from '../main/execute/execute.ts'
import { after, startLoop, type Loop, type Next } from '../main/loop.ts'
import { createRunHeartbeats } from '../main/liveness/run-heartbeats.ts'
import { runLimitsTick } from '../main/liveness/run-limits.ts'

const everyMs = 200

export function startInlineLimits(
  { store, runMonitors, nowMs, observe }: ExecuteDeps,
  { id: replicaId, hostname, pid, thresholds }: ReplicaRegistration,
): Pick<Loop, 'stop'> {
  const sender = { replicaId, hostname, pid }
  const beganMs = nowMs()
  const beatEveryMs = thresholds.runnerBeatMs
  const heartbeats = createRunHeartbeats({ store, runMonitors, sender, beatEveryMs, nowMs, claimSentMs: () => beganMs })
  const ticks: Record<string, () => Promise<Next>> = {
    async 'run-heartbeats'() {
      heartbeats.cancelRequested() // no wake announces a cancel here, so each round checks
      await heartbeats.tick()
      return after(everyMs)
    },
    // No evidence limit: code that blocks this thread also blocks this check.
    'run-limits': () =>
      runLimitsTick({ runMonitors, noEvidenceMsMax: Number.POSITIVE_INFINITY, nowMs, onStopped: () => {} }),
  }
  const loops = Object.entries(ticks).map(([loop, tick]) => {
    let rounds = 0
    return startLoop({
      tick: () => (rounds++ === 0 ? Promise.resolve(after(everyMs)) : tick()),
      onError: (error, retryInMs) => observe({ type: 'loop-failed', loop, error, retryInMs }),
    })
  })
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) }
}
