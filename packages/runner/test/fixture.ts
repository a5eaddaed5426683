/** A replica with real threads in this process, on a database of its own, and a client that enqueues runs. */
import { onTestFinished } from 'vitest'
import { queue, type Queue } from '@q/client'
import { testDatabase } from '@q/testing'
import { presets, readConfig, startRunner, type Runner, type RunnerEvent } from '@q/runner'
import type { ReplicaRegistration } from '@q/store'
import { moduleUrl } from './module-url.ts'
import type * as marking from './tasks/marking.ts'
import type * as wellBehaved from './tasks/well-behaved.ts'

type Tasks = typeof wellBehaved & typeof marking

export { moduleUrl }

export interface Replica {
  readonly runner: Runner
  readonly events: RunnerEvent[]
}

export interface Cluster {
  readonly url: string
  readonly q: Queue<Tasks>
  start(env?: Record<string, string>, databaseUrl?: string, directUrl?: string): Promise<Replica>
}

/** Everything it starts has left when the test is over. */
export async function cluster(): Promise<Cluster> {
  const database = await testDatabase()
  const q = queue<Tasks>(database.url)
  onTestFinished(async () => {
    await q.close()
    await database.drop()
  })
  return {
    url: database.url,
    q,
    async start(env = {}, databaseUrl = database.url, directUrl = databaseUrl) {
      const events: RunnerEvent[] = []
      const runner = await startRunner({
        databaseUrl,
        directUrl,
        config: readConfig({ Q_THREADS: '2', ...env }),
        version: '0.0.0',
        taskModules: [moduleUrl('well-behaved'), moduleUrl('marking')],
        observe: (event) => void events.push(event),
      })
      // Hooks run in the reverse order: a replica has left before the proxy it uses is closed.
      onTestFinished(() => Promise.race([runner.drain(), runner.drain()]))
      return { runner, events }
    },
  }
}

/** A replica that registers, sends one heartbeat and then nothing. */
export function replicaNamed(id: string): ReplicaRegistration {
  const { thresholds, onCrash } = presets['fast']!
  return {
    id,
    name: id,
    hostname: 'h',
    pid: 1,
    version: '0',
    queues: [],
    tasks: [],
    capabilities: [],
    slots: 1,
    preset: 'fast',
    onCrash,
    thresholds,
  }
}

/** Polls until `look` returns a value, within a limit. */
export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
  withinMs = 60_000,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const deadline = performance.now() + withinMs
  const again = async (): Promise<void> => {
    const found = await look()
    if (found !== undefined) resolve(found)
    else if (performance.now() > deadline) reject(new Error(`never happened: ${what}`))
    else setTimeout(() => void again().catch(reject), 20)
  }
  await again()
  return promise
}
