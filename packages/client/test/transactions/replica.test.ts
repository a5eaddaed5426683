/** A real replica and users' own transactions: what is committed is executed, what is rolled back never was. */
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { testDatabase } from '@q/testing'
import type * as tasks from '../tasks.ts'
import { libraries } from './libraries.ts'
import { startReplica } from './start-replica.ts'

const database = await testDatabase()
const q = queue<typeof tasks>(database.url)
const replica = await startReplica(database.url)
afterAll(async () => {
  await q.close()
  await replica.leave()
  await database.drop()
})

test.each(Object.keys(libraries))(
  'runs that a transaction of %s committed are executed, those with one concurrency key one after the other',
  async (name) => {
    const library = libraries[name]!(database.url)
    const account = `account of ${name}`
    const undone = library.inTransaction(async (tx) => {
      await q.enqueue('charge', { account: `${account}, never` }, { tx })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const runs = await library.inTransaction(async (tx) => [
      await q.enqueue('charge', { account }, { tx }),
      await q.enqueue('charge', { account }, { tx }),
      await q.enqueue('hello', { name }, { tx }),
    ])
    const results = await Promise.all(runs.map((run) => run.result({ timeout: '40s' })))
    expect(results).toEqual([`charged ${account}`, `charged ${account}`, `Hello, ${name}!`])
    await library.close()
  },
)
