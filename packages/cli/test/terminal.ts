/** Runs a command line in this process, in a terminal made of strings: as fast as a function call. */
import { run } from '../src/run.ts'
import type { Terminal } from '../src/frame/terminal.ts'

export interface Answered {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface TestTerminalOptions {
  /** 0: not a terminal. */
  readonly columns?: number
  readonly colour?: boolean
  readonly ascii?: boolean
  /** Answers to questions, in order; without them there is no person to ask. */
  readonly answers?: readonly string[]
  /** Called with each line of progress; the command does not wait for it. */
  readonly onProgress?: (line: string) => void
}

export async function q(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  options: TestTerminalOptions = {},
): Promise<Answered> {
  const { columns = 0, colour = false, ascii = false } = options
  const answers = [...(options.answers ?? [])]
  const text = { stdout: '', stderr: '' }
  const terminal: Terminal = {
    env: { Q_USER: 'tester', ...env },
    columns,
    rows: columns === 0 ? 0 : 40,
    colour,
    ascii,
    canAsk: options.answers !== undefined,
    exitCode: 0,
    print: (line) => void (text.stdout += `${line}\n`),
    printData: (line) => void (text.stdout += `${line}\n`),
    tell: (line) => void (text.stderr += `${line}\n`),
    progress: (line) => {
      if (line !== '') options.onProgress?.(line)
    },
    redraw: (screen) => void (text.stdout += `${screen}\n`),
    ask: (question) => {
      text.stderr += question
      return Promise.resolve(answers.shift() ?? '')
    },
  }
  const code = await run(args, terminal)
  return { code, ...text }
}

/** The document that `--json` prints, and its exit code. */
export async function qJson(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; json: unknown }> {
  const { code, stdout } = await q([...args, '--json'], env)
  return { code, json: JSON.parse(stdout) }
}
