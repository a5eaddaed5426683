/** Migration 0008: runs of unpublished tasks move to the gate `task`, and live keys tell JSON types apart. */
import type { Client } from 'pg'
import { expect, test } from 'vitest'
import { migrate } from '@q/schema'
import { connect } from '@q/store'
import { changeRun, columnsOf, insertRun, rowOf } from './a-run.ts'
import { openDatabase } from './open-database.ts'

const before = '0007-enqueue-function'
const after = '0008-task-gate-and-keys'

async function migrateTo8(url: string): Promise<void> {
  const connection = connect(url, { purpose: 'control' })
  expect(await migrate(connection.db, { upTo: after })).toEqual([after])
  await connection.close()
}

test('a run of an unpublished task that has not started moves to the gate and keeps options that differ from the defaults', async () => {
  await using database = await openDatabase({ upTo: before })
  const { client, url } = database
  await client.query(
    `INSERT INTO q.lane (queue, task, requires) VALUES ('default', 'u', '{}'), ('cpu', 'u', '{}'), ('cpu', 'u', '{gpu}'), ('cpu', 'p', '{}')`,
  )
  await client.query(`INSERT INTO q.task (name, queue, published_by) VALUES ('p', 'cpu', 'r')`)
  const run = (lane: number, more = {}) => insertRun(client, { ...columnsOf('AVAILABLE'), task: 'u', lane, ...more })
  const plain = await run(1)
  const special = await run(2, {
    priority: 3,
    max_attempts: 5,
    unique_key: 'k',
    status: 'PENDING',
    waiting_for: 'time',
  })
  const parents = await run(1, { status: 'PENDING', waiting_for: 'parents' })
  const begun = await run(1)
  await changeRun(client, begun, { status: 'CLAIMED', fence: 1, replica_id: 'r' })
  const keyed = await run(1, { concurrency_scope: 'u', concurrency_key: 'k', concurrency_slot: 1 })
  const stay = [await run(3), await run(4, { task: 'p' }), begun, keyed]
  const rows = () => Promise.all(stay.map((id) => rowOf(client, id)))
  const stayed = await rows()
  await migrateTo8(url)
  expect(await rowOf(client, plain)).toMatchObject({ status: 'PENDING', waiting_for: 'task', lane: 0, asked: {} })
  expect(await rowOf(client, special)).toMatchObject({
    waiting_for: 'task',
    asked: { queue: 'cpu', priority: 3, max_attempts: 5, own_law: true },
    unique_key: 'k',
  })
  expect(await rowOf(client, parents)).toMatchObject({ waiting_for: 'parents', asked: {} })
  expect(await rows()).toEqual(stayed.map((row) => ({ ...row, asked: null })))
})

test('a step that a live workflow makes later of an unpublished task waits at the gate too', async () => {
  await using database = await openDatabase({ upTo: before })
  const { client, url } = database
  await client.query(`INSERT INTO q.task (name, queue, published_by) VALUES ('p', 'cpu', 'r')`)
  const defined = { lane: 3, priority: 0 }
  const tasks = { p: { lane: 1 }, u: { lane: 2 }, defined }
  await client.query(`INSERT INTO q.workflow (name, definition) VALUES ('w', $1)`, [
    JSON.stringify({ output: null, tasks }),
  ])
  await migrateTo8(url)
  const { rows } = await client.query('SELECT definition FROM q.workflow')
  expect(rows).toEqual([{ definition: { output: null, tasks: { p: { lane: 1 }, u: { lane: 0 }, defined } } }])
})

test('keys of numbers get their prefix wherever a live run has them; strings and explicit keys stay', async () => {
  await using database = await openDatabase({ upTo: before })
  const { client, url } = database
  const options = {
    a: { concurrency: { key: '/id', shared: null }, unique: { key: '/id', forMs: 3_600_000 } },
    b: { throttle: { key: '/id', forMs: 3_600_000 } },
    c: { debounce: { key: '/id', forMs: 3_600_000, maxMs: 36_000_000 } },
    d: { unique: { key: '/id', forMs: null } },
  }
  const enqueue = await published(client, options)
  const number = await enqueue(`'a', '{"id": 1}'`)
  const text = await enqueue(`'a', '{"id": "one"}'`)
  await enqueue(`'b', '{"id": 1}'`)
  await enqueue(`'c', '{"id": 1}'`)
  const explicit = await enqueue(`'d', '{"id": 1}', unique_key => 'mine'`)
  const ended = await enqueue(`'d', '{"id": 2}'`)
  await changeRun(client, ended, columnsOf('FAILED'))
  await migrateTo8(url)
  expect(await rowOf(client, number)).toMatchObject({ unique_key: 'json:1', concurrency_key: 'a\u001fjson:1' })
  expect(await rowOf(client, text)).toMatchObject({ unique_key: 'one', concurrency_key: 'a\u001fone' })
  expect(await rowOf(client, explicit)).toMatchObject({ unique_key: 'mine' })
  expect(await rowOf(client, ended)).toMatchObject({ unique_key: 'json:2' })
  const { rows: periods } = await client.query('SELECT task, unique_key FROM q.unique_period ORDER BY 1, 2')
  expect(periods).toEqual([
    { task: 'a', unique_key: 'json:1' },
    { task: 'a', unique_key: 'one' },
    { task: 'b', unique_key: 'throttle\u001fjson:1' },
  ])
  // Runs that are enqueued afterwards have the same keys as runs from before.
  for (const task of ['a', 'b', 'c']) {
    const { rows } = await client.query(`SELECT duplicate FROM q.enqueue($1, '{"id": 1}')`, [task])
    expect(rows).toEqual([{ duplicate: true }])
  }
})

test('programs that know fewer migrations may no longer use the database', async () => {
  await using database = await openDatabase()
  const { rows } = await database.client.query('SELECT oldest_program FROM q.compatibility')
  expect(rows[0].oldest_program).toBeGreaterThanOrEqual(8)
})

test('a key that another run has after the rewrite, because its caller wrote it so, does not stop the migration', async () => {
  await using database = await openDatabase({ upTo: before })
  const { client, url } = database
  const options = {
    a: { unique: { key: '/id', forMs: 3_600_000 }, concurrency: { key: '/id', shared: null } },
    b: { throttle: { key: '/id', forMs: 3_600_000 } },
    c: { debounce: { key: '/id', forMs: 3_600_000, maxMs: 36_000_000 } },
  }
  const enqueue = await published(client, options)
  const available = { status: 'AVAILABLE', waiting_for: null, concurrency_slot: 1 }
  // The number comes before the text whose key it gets, and before the caller's own key.
  const five = await enqueue(`'a', '{"id": 5}'`)
  const textOfFive = await enqueue(`'a', '{"id": "json:5"}'`)
  for (const id of [five, textOfFive]) await changeRun(client, id, available)
  const seven = await enqueue(`'a', '{"id": 7}'`)
  const own = await enqueue(`'a', '{}', unique_key => 'json:7', unique_for => '1 h'`)
  await changeRun(client, own, { ...available, concurrency_scope: 'a', concurrency_key: 'a\u001fjson:7' })
  await changeRun(client, seven, available)
  for (const id of ['5', '"json:5"', '7']) {
    await enqueue(`'b', '{"id": ${id}}'`)
    await enqueue(`'c', '{"id": ${id}}'`)
  }
  await enqueue(`'b', '{}', throttle_key => 'json:7', throttle_for => '1 h'`)
  await enqueue(`'c', '{}', debounce_key => 'json:7', debounce_for => '1 h'`)
  await migrateTo8(url)
  expect(await rowOf(client, five)).toMatchObject({ unique_key: 'json:5', concurrency_key: 'a\u001fjson:5' })
  expect((await rowOf(client, textOfFive)).unique_key).toMatch(/^sha256:/)
  expect(await rowOf(client, own)).toMatchObject({ unique_key: 'json:7' })
  expect(await rowOf(client, seven)).toMatchObject({ unique_key: '7', concurrency_key: 'a\u001f7' })
  for (const task of ['a', 'b', 'c']) {
    for (const id of ['5', '"json:5"', '7']) {
      const { rows } = await client.query(`SELECT duplicate FROM q.enqueue($1, $2)`, [task, `{"id": ${id}}`])
      expect(rows).toEqual([{ duplicate: true }])
    }
  }
})

/** Publishes the tasks; the returned function enqueues a run by the arguments of `q.enqueue()`. */
async function published(client: Client, options: object): Promise<(call: string) => Promise<string>> {
  for (const [name, data] of Object.entries(options)) {
    await client.query(`INSERT INTO q.task (name, queue, options, published_by) VALUES ($1, 'default', $2, 'r')`, [
      name,
      data,
    ])
  }
  return async (call) => (await client.query<{ id: string }>(`SELECT id FROM q.enqueue(${call})`)).rows[0]!.id
}
