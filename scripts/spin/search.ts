/** One search: Spin makes a program of the model, a C compiler builds it, and it looks at every state. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../test-steps/run-command.ts'
import { workspace } from '../workspace.ts'
import type { Scene } from './scenes.ts'
import { outcomeOf, type SearchOutcome } from './search-outcome.ts'

export const models: string = join(workspace, 'packages/store/spin')

const limits = { depth: 100_000, memoryMb: 3_000, minutes: 5 }
/** Optimising takes longer than most searches for a fault. */
const optimisation = { whole: '-O1', fault: '-O0' }

/** `fault`: a name of faults.pml, or nothing: the sound model. */
export async function search({ model, defines, search: goal }: Scene, fault?: string): Promise<SearchOutcome> {
  // In a folder of its own, by relative names: Spin writes where it runs and hands names to a shell.
  const folder = await mkdtemp(join(tmpdir(), 'q-spin-'))
  try {
    await cp(models, folder, { recursive: true })
    const given = [...defines, ...(fault === undefined ? [] : [`FAULT=${fault}`])].map((define) => `-D${define}`)
    const run = async (...argv: string[]) => runCommand({ argv, cwd: folder })
    const made = await run('spin', '-Pcc -E -x c', '-a', ...given, model)
    if (made.code !== 0) return { kind: 'incomplete', why: firstError(made.output) }
    const kind = goal === 'safety' ? ['-DSAFETY'] : ['-DNFAIR=3']
    const level = fault === undefined ? optimisation.whole : optimisation.fault
    const built = await run('cc', level, '-w', ...kind, `-DMEMLIM=${limits.memoryMb}`, '-o', 'pan', 'pan.c')
    if (built.code !== 0) return { kind: 'incomplete', why: firstError(built.output) }
    const mode = goal === 'safety' ? [] : ['-a', '-f']
    const { output } = await run('./pan', ...mode, `-m${limits.depth}`, '-w20', `-Q${limits.minutes}`)
    return outcomeOf(output, 'every run ends')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function firstError(output: string): string {
  const lines = output.trim().split('\n')
  return lines.find((line) => /\berror\b/i.test(line)) ?? lines[0] ?? ''
}
