/** A replica in a process of its own, which can be killed. Returned when it is up; ended with the test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Replica {
  readonly id: string
  readonly exited: Promise<unknown>
  /** Returns at once; `kill` returns when the process has ended. */
  signal(signal: NodeJS.Signals): void
  kill(signal: NodeJS.Signals): Promise<void>
}

const program = fileURLToPath(new URL('./replica-program.ts', import.meta.url))
const tasks = fileURLToPath(new URL('./tasks.ts', import.meta.url))

export async function startReplica(
  name: string,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<Replica> {
  const child = spawn(process.execPath, ['--conditions=@q/source', program], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATABASE_URL: databaseUrl,
      Q_NAME: name,
      Q_TASKS: tasks,
      Q_THREADS: '2',
      Q_PRESET: 'fast',
      Q_HTTP: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { msg, replicaId } = JSON.parse(line) as { msg: string; replicaId: string }
    if (msg === 'started') resolve(replicaId)
  })
  void exited.then(() => reject(new Error(`The replica ${name} ended while it started.`)))
  const id = await promise
  return {
    id,
    exited,
    signal: (signal) => void child.kill(signal),
    async kill(signal) {
      child.kill(signal)
      await exited
    },
  }
}
