/**
 * While code runs inline, and only then, there is a clock: its limits are applied, a cancel is heard, its progress is told.
 * As far as the code awaits: while it is busy, so is this process. Short runs are over before the first look.
 */
import type { ReplicaIntroduction } from '@q/store'
import type { ExecuteDeps } from '../main/execute.ts'
import { after, startLoop, type Loop, type Next } from '../main/loop.ts'
import { createPulseCarrier } from '../main/loops/pulse.ts'
import { watchTick } from '../main/loops/watch.ts'

const lookEveryMs = 200

export function watchRun(
  { store, pulseBoard, nowMs, observe }: ExecuteDeps,
  { id: replicaId, hostname, pid, thresholds }: ReplicaIntroduction,
): Pick<Loop, 'stop'> {
  const sender = { replicaId, hostname, pid }
  const beganMs = nowMs()
  const beatEveryMs = thresholds.runnerBeatMs
  const carrier = createPulseCarrier({ store, pulseBoard, sender, beatEveryMs, nowMs, askedMs: () => beganMs })
  const ticks: Record<string, () => Promise<Next>> = {
    async pulse() {
      carrier.wished() // nobody tells us of a cancel: every look asks
      await carrier.tick()
      return after(lookEveryMs)
    },
    // What this process could not see, it could not stop either.
    watch: () => watchTick({ pulseBoard, noEvidenceMsMax: Number.POSITIVE_INFINITY, nowMs, onStopped: () => {} }),
  }
  const loops = Object.entries(ticks).map(([loop, tick]) => {
    let looks = 0
    return startLoop({
      tick: () => (looks++ === 0 ? Promise.resolve(after(lookEveryMs)) : tick()),
      onError: (error, retryInMs) => observe({ type: 'loop-failed', loop, error, retryInMs }),
    })
  })
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) }
}
