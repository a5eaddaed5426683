/** A replica of preset `fast` with the tasks of one module of the tests, a client for them, and the store beside it. */
import { onTestFinished } from 'vitest'
import { queue, type Queue } from '@q/client'
import { connect, createStore, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { readConfig, startRunner, type Runner, type RunnerEvent } from '@q/runner'
import { moduleUrl } from './fixture.ts'
import { stallingProxy, type StallingProxy } from './stalling-proxy.ts'

export interface Execution<Tasks> {
  readonly url: string
  readonly q: Queue<Tasks>
  readonly store: Store
  readonly runner: Runner
  readonly events: RunnerEvent[]
  /** Between the replica and its database, if it was asked for. */
  readonly proxy: StallingProxy | undefined
}

export interface ExecutionOptions {
  readonly threads?: number
  readonly env?: Record<string, string>
  readonly behindProxy?: boolean
}

export async function execution<Tasks>(
  module: string,
  { threads = 2, env = {}, behindProxy = false }: ExecutionOptions = {},
): Promise<Execution<Tasks>> {
  const database = await testDatabase()
  const proxy = behindProxy ? await stallingProxy(database.url) : undefined
  const q = queue<Tasks>(database.url)
  const connection = connect(database.url, { purpose: 'control' })
  const events: RunnerEvent[] = []
  const runner = await startRunner({
    databaseUrl: proxy?.url ?? database.url,
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
  return { url: database.url, proxy, q, store: createStore(connection.db), runner, events }
}
