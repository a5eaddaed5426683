/**
 * The store against its model: many runs of many commands, in any order, by replicas that live, lag, die and come back.
 *
 *     Q_MODEL_SEED=123 Q_MODEL_RUNS=2000 vitest run --project store model
 *
 * The suite plays 100 runs with another seed each time, `pnpm model` 2000. A failure names its seed and the shortest
 * sequence of commands that was found; the seed plays it again.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { claimCommands } from './claim-commands.ts'
import { enqueueCommands } from './enqueue-commands.ts'
import { gateCommands } from './gate-commands.ts'
import { holderCommands, zombieCommands } from './holder-commands.ts'
import { newModel } from './model.ts'
import { peopleCommands } from './user-commands.ts'
import { reaperCommands } from './reaper-commands.ts'
import { exchangeCommands } from './exchange-commands.ts'
import { timeCommands } from './time-commands.ts'
import { replicas, world } from './world.ts'

/** `no`: report the first failure as it is, for those who only want to know whether there is one. */
const endOnFailure = process.env['Q_MODEL_SHRINK'] === 'no'
const numRuns = Number(process.env['Q_MODEL_RUNS'] ?? 100)
const seed = Number(process.env['Q_MODEL_SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
const commandsMax = 100

/** Two databases, so that one waits while the other works. */
const worlds = [await world(), await world()]

const commands = [
  ...enqueueCommands,
  ...gateCommands,
  ...claimCommands,
  ...holderCommands,
  ...zombieCommands,
  ...peopleCommands,
  ...exchangeCommands,
  ...timeCommands,
  ...reaperCommands,
]
const sequences = fc.commands(commands, { maxCommands: commandsMax, size: 'max' })

test(
  'the store agrees with its model under random acts of replicas, zombies, users and reapers',
  { timeout: 1_800_000 },
  async () => {
    let carriedOut = 0
    const count = () => void carriedOut++
    const began = performance.now()
    await Promise.all(
      worlds.map(async (real, index) => {
        const property = fc.asyncProperty(sequences, async (sequence) => {
          await real.empty()
          await fc.asyncModelRun(() => ({ model: newModel(replicas), real: { ...real, before: [], count } }), sequence)
        })
        await fc.assert(property, { seed: seed + index, endOnFailure, numRuns: Math.ceil(numRuns / worlds.length) })
      }),
    )
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(`model: seed ${seed}, ${numRuns} runs, ${carriedOut} commands, ${seconds} s`)
    expect(carriedOut).toBeGreaterThan(numRuns)
  },
)
