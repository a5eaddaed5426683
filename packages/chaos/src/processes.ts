/** Real replicas in separate processes, which can be killed by pid. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

export interface ReplicaProcess {
  readonly id: string
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<unknown>
  /** Its log lines. */
  readonly lines: readonly Line[]
}

export interface Line {
  readonly msg: string
  readonly [fact: string]: unknown
}

const program = fileURLToPath(new URL('./replica.ts', import.meta.url))
const tasks = fileURLToPath(new URL('./tasks.ts', import.meta.url))

/** Returns when the replica is ready. */
export async function startReplica(env: Record<string, string>): Promise<ReplicaProcess> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, ['--conditions=@q/source', program], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, Q_TASKS: tasks, Q_HTTP: 'off', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines: Line[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const facts = JSON.parse(line) as Line
    lines.push(facts)
    if (facts.msg === 'started') resolve(String(facts['replicaId']))
  })
  void exited.then(() => reject(new Error('The replica ended while it started.')))
  const id = await promise
  return { id, pid: child.pid ?? 0, exited, lines, kill: (signal) => void child.kill(signal) }
}

/** Starts threads that compute without a pause until they are stopped; they end with this process at the latest. */
export function startLoad(count: number): { stop(): Promise<void> } {
  const busy = Array.from({ length: count }, () => new Worker('for (;;);', { eval: true }))
  return { stop: async () => void (await Promise.all(busy.map((thread) => thread.terminate()))) }
}
