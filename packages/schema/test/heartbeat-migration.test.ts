import { expect, test } from 'vitest'
import { migrate, taskStates } from '@q/schema'
import { connect } from '@q/store'
import { rowOf, rowsOf, runIn } from './a-run.ts'
import { openDatabase } from './open-database.ts'

test('runs that were RUNNING before heartbeats existed are FAILED, and no other run is changed', async () => {
  await using database = await openDatabase({ upTo: '0001-task-runs' })
  const { client, url } = database
  const running = [
    await runIn(client, 'RUNNING'),
    await runIn(client, 'RUNNING', { concurrency_scope: 'task', concurrency_key: 'k', concurrency_slot: 1 }),
  ]
  const others: string[] = []
  for (const state of taskStates) if (state !== 'RUNNING') others.push(await runIn(client, state))
  others.push(await runIn(client, 'CLAIMED', { concurrency_scope: 'task', concurrency_key: 'k', concurrency_slot: 2 }))
  const before = await rowsOf(client, others)

  const connection = connect(url, { purpose: 'control' })
  expect(await migrate(connection.db, { upTo: '0002-heartbeats' })).toEqual(['0002-heartbeats'])
  await connection.close()

  for (const id of running) {
    expect(await rowOf(client, id)).toMatchObject({
      status: 'FAILED',
      result: { code: 'WORKER_CRASHED', detail: 'Marked as failed during heartbeat migration' },
      concurrency_slot: null,
      held: null,
      finished_at: expect.any(String),
    })
  }
  expect(await rowsOf(client, others)).toEqual(before)
})
