/** Finds how many iterations of the job take a given time on this machine. */
import { compute } from './job.ts'

const trials = 25

/** The fastest of many trials: other programs can only make a trial slower. */
export function iterationsPerMs(): number {
  const iterations = 400_000
  let bestMs = Infinity
  for (let trial = 0; trial < trials; trial++) {
    const begunMs = performance.now()
    compute(iterations)
    bestMs = Math.min(bestMs, performance.now() - begunMs)
  }
  return iterations / bestMs
}
