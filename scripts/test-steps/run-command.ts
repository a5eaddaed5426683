/**
 * One program, run without a terminal, so that nothing can ask it anything, and in the workspace unless said. Programs of
 * the workspace and the Node that runs us come first in its PATH; no shell, so the path of the clone may contain anything.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, delimiter, join } from 'node:path'
import { workspace } from '../workspace.ts'

export interface Command {
  readonly argv: readonly string[]
  /** Show its output as it comes, for what takes long; else collect it. */
  readonly stream?: boolean
  /** Where it runs, if not in the workspace. */
  readonly cwd?: string
  /** Beside ours. */
  readonly env?: Readonly<Record<string, string>>
}

export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly output: string
}

export async function runCommand({
  argv: [program = '', ...args],
  stream = false,
  cwd = workspace,
  env = {},
}: Command): Promise<CommandEnd> {
  const PATH = [join(workspace, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd,
    stdio: ['ignore', stream ? 'inherit' : 'pipe', stream ? 'inherit' : 'pipe'],
    env: { ...process.env, PATH, ...env },
  })
  const letGo = takeAlong(child)
  let output = ''
  for (const pipe of [child.stdout, child.stderr])
    pipe?.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    const [code]: (number | null)[] = await once(child, 'close')
    return { code: code ?? null, output }
  } catch (error) {
    return { code: null, output: `${program} could not be started: ${String(error)}` }
  } finally {
    letGo()
  }
}

const running = new Set<ChildProcess>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Ends the running programs when a signal ends this process. */
function takeAlong(child: ChildProcess): () => void {
  if (running.size === 0) for (const signal of signals) process.on(signal, endAll)
  running.add(child)
  return () => {
    running.delete(child)
    if (running.size === 0) for (const signal of signals) process.off(signal, endAll)
  }
}

function endAll(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal)
  process.exit(1)
}
