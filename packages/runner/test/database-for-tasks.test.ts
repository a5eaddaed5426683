/** Which task code gets the URL of the database. */
import { expect, test } from 'vitest'
import { execution } from './execution.ts'
import type * as tasks from './tasks/database.ts'

test('a task with `database: true` gets the URL, on a thread and in a process; a task without it gets none', async () => {
  const { q, url } = await execution<typeof tasks>('database', { threads: 2 })
  const runs = await q.enqueueMany([
    ['asks', {}],
    ['asksNot', {}],
    ['asksAlone', {}],
    ['asksNotAlone', {}],
  ])
  const [asks, asksNot, asksAlone, asksNotAlone] = await Promise.all(runs.map((run) => run.result({ timeout: '40s' })))
  expect([asks!.url, asksNot!.url, asksAlone!.url, asksNotAlone!.url]).toEqual([url, null, url, null])
  // A child has no other way to the database, and code that logs its context does not log the password.
  expect(asksAlone!.env).toEqual([])
  expect(asksNotAlone!.env).toEqual([])
  expect(asks!.shown).not.toContain(new URL(url).password)
})
