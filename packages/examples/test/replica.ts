/** A database of its own, and a replica that runs the tasks of one module. */
import { onTestFinished } from 'vitest'
import { readConfig, startRunner } from '@q/runner'
import { connect, createStore, type Connection, type Store } from '@q/store'
import { testDatabase } from '@q/testing'

export interface Replica {
  readonly url: string
  readonly db: Connection['db']
  readonly store: Store
}

/** Both are gone when the test is over. */
export async function replicaWith(taskModule: URL): Promise<Replica> {
  const database = await testDatabase()
  const { db, close } = connect(database.url, { purpose: 'pool' })
  const runner = await startRunner({
    databaseUrl: database.url,
    config: readConfig({ Q_THREADS: '2' }),
    version: '0.0.0',
    taskModules: [taskModule.href],
    observe: () => {},
  })
  onTestFinished(async () => {
    await runner.drain()
    await close()
    await database.drop()
  })
  return { url: database.url, db, store: createStore(db) }
}
