/** Three tasks to try q with. They run when Q_TASKS names no modules. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task, type Task } from '@q/task'
import { countField, textField } from './demo-input.ts'

export const hello: Task<{ name: string }, string> = task({ input: textField('name') }, ({ name }) => `Hello, ${name}!`)

/** Counts primes by trial division: pure CPU work that reports its progress. */
export const primes: Task<{ upTo: number }, number> = task(
  { input: countField('upTo', 100_000_000) },
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
  { input: countField('ms', 86_400_000) },
  async ({ ms }, ctx) => {
    await sleep(ms, undefined, { signal: ctx.signal })
    return { waitedMs: ms }
  },
)

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) return false
  }
  return true
}
