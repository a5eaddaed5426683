/** A replica of preset `fast` with the tasks of one module of the tests, a client for them, and the store beside it. */
import { onTestFinished } from 'vitest'
import { queue, type Queue } from '@q/client'
import { connect, createStore, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { readConfig, startRunner, type Runner, type RunnerEvent } from '@q/runner'
import { moduleUrl } from './fixture.ts'

export interface Execution<Tasks> {
  readonly url: string
  readonly q: Queue<Tasks>
  readonly store: Store
  readonly runner: Runner
  readonly events: RunnerEvent[]
}

export async function execution<Tasks>(
  module: string,
  { threads = 2, env = {} }: { threads?: number; env?: Record<string, string> } = {},
): Promise<Execution<Tasks>> {
  const database = await testDatabase()
  const q = queue<Tasks>(database.url)
  const connection = connect(database.url, { purpose: 'control' })
  const events: RunnerEvent[] = []
  const runner = await startRunner({
    databaseUrl: database.url,
    config: readConfig({ Q_THREADS: String(threads), Q_PRESET: 'fast', Q_POLL_MS: '100', ...env }),
    version: '0.0.0',
    taskModules: [moduleUrl(module)],
    observe: (event) => void events.push(event),
  })
  onTestFinished(async () => {
    await q.close()
    await Promise.race([runner.drain(), runner.drain()])
    await connection.close()
    await database.drop()
  })
  return { url: database.url, q, store: createStore(connection.db), runner, events }
}
