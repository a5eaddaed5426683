/** The steps of `pnpm test`, cheapest first. The steps of one group run at the same time. */
import { type Counts, oneFailed, onePassed } from './counts.ts'
import { type Command, runCommand } from './run-command.ts'
import { vitest, type VitestOptions } from './vitest.ts'

export interface Step {
  readonly name: string
  readonly run: () => Promise<StepEnd>
}

export interface StepEnd {
  readonly counts: Counts
  /** Printed if the step failed; empty if it was printed while the step ran. */
  readonly output: string
  /** Printed at the end in any case. */
  readonly note?: string
}

const script = (name: string, ...args: string[]) => ['node', '--conditions=@q/source', `scripts/${name}.ts`, ...args]

export function stepGroups(options: VitestOptions): readonly (readonly Step[])[] {
  return [
    [
      command('format', ['oxfmt', '--check']),
      command('lint', ['oxlint', '--type-aware']),
      command('types', ['tsc', '-b']),
      command('boundaries', script('check-boundaries')),
      command('words', script('check-words')),
      command('knip', ['knip', '--no-progress', '--no-config-hints']),
      command('codegen', script('codegen', '--verify')),
    ],
    [{ name: 'vitest', run: () => vitest(options) }, command('packed-consumer', script('packed-consumer'))],
  ]
}

function command(name: string, argv: string[], options: { stream?: boolean } = {}): Step {
  return {
    name,
    run: async () => {
      const { code, output } = await runCommand({ argv, ...options } satisfies Command)
      return { counts: code === 0 ? onePassed : oneFailed, output }
    },
  }
}
