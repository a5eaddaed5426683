/** Replicas in processes of their own, as a supervisor starts them, to be stopped and killed by their pid. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface Line {
  readonly msg: string
  readonly [fact: string]: unknown
}

export interface ReplicaProcess {
  readonly id: string
  readonly pid: number
  readonly lines: readonly Line[]
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  said(msg: string): Line[]
}

export interface ReplicaOptions {
  readonly env: Record<string, string>
  /** Default: the runner's own main. */
  readonly program?: string
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const modules = ['well-behaved', 'marking'].map((name) => fileURLToPath(new URL(`./tasks/${name}.ts`, import.meta.url)))

/** One that is up, or has ended while it started. */
export async function startProcess({ env, program = main }: ReplicaOptions): Promise<ReplicaProcess> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, ['--conditions=@q/source', program], {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      Q_TASKS: modules.join(','),
      Q_THREADS: '2',
      Q_LOG_LEVEL: 'debug',
      Q_HTTP: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: Line[] = []
  const { promise: ended, resolve } = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>()
  const { promise: started, resolve: up, reject: failed } = Promise.withResolvers<string>()
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const line = JSON.parse(part) as Line
      lines.push(line)
      if (line.msg === 'started') up(String(line['replicaId']))
    }
  })
  child.on('close', (code, signal) => {
    resolve({ code, signal })
    failed(new Error(`ended while it started: ${JSON.stringify(lines)}`))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const id = await started
  return {
    id,
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    said: (msg) => lines.filter((line) => line.msg === msg),
  }
}
