/** Three tasks to try q with. They run when Q_TASKS names no modules. */
import { setTimeout as passing } from 'node:timers/promises'
import { task, type Task } from '@q/task'
import { z } from 'zod'

export const hello: Task<{ name: string }, string> = task(
  { input: z.object({ name: z.string().min(1) }) },
  ({ name }) => `Hello, ${name}!`,
)

/** Counts primes by trial division: pure CPU work, which reports how far it is. */
export const primes: Task<{ upTo: number }, number> = task(
  { input: z.object({ upTo: z.int().min(0).max(100_000_000) }) },
  ({ upTo }, ctx) => {
    let count = 0
    for (let candidate = 2; candidate <= upTo; candidate++) {
      if (candidate % 1_000 === 0) ctx.heartbeat(candidate / upTo, `${count} primes below ${candidate}`)
      if (isPrime(candidate)) count++
    }
    return count
  },
)

export const wait: Task<{ ms: number }, { waitedMs: number }> = task(
  { input: z.object({ ms: z.int().min(0).max(86_400_000) }) },
  async ({ ms }, ctx) => {
    await passing(ms, undefined, { signal: ctx.signal })
    return { waitedMs: ms }
  },
)

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) return false
  }
  return true
}
