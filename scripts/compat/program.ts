/** Runs the q command and the runner of a release that is checked out in a folder. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface ProgramEnd {
  readonly code: number | null
  readonly output: string
}

export interface Replica {
  readonly id: string
  readonly ended: Promise<ProgramEnd>
  kill(signal: NodeJS.Signals): void
}

export interface Program {
  q(...args: string[]): Promise<ProgramEnd>
  /** The replica once it has started, or the exit of a replica that could not start. */
  start(): Promise<Replica | ProgramEnd>
}

export function programIn(folder: string, env: Readonly<Record<string, string>>): Program {
  return {
    q: (...args) => run(['packages/cli/src/bin.ts', ...args]).ended,
    async start() {
      const { child, ended } = run(['packages/runner/src/main.ts'])
      const { promise: id, resolve } = Promise.withResolvers<string>()
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, replicaId } = JSON.parse(line) as { msg: string; replicaId?: string }
        if (msg === 'started' && replicaId !== undefined) resolve(replicaId)
      })
      const started = id.then((it): Replica => ({ id: it, ended, kill: (signal) => void child.kill(signal) }))
      return Promise.race([started, ended])
    },
  }

  function run(args: readonly string[]) {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, ['--conditions=@q/source', ...args], {
      cwd: folder,
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const pipe of [child.stdout, child.stderr])
      pipe.setEncoding('utf8').on('data', (text: string) => (output += text))
    const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>()
    child.on('close', (code) => resolve({ code, output }))
    return { child, ended }
  }
}
