/** Before the replica exists: what a start waits for, and how SIGTERM ends it in the meantime. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '@q/store'
import { testDatabase, type TestDatabaseOptions } from '@q/testing'
import { scratch, startMain, type Ended, type Program } from './program.ts'

async function database(options?: TestDatabaseOptions) {
  const { url, drop } = await testDatabase(options)
  onTestFinished(drop)
  return { DATABASE_URL: url }
}

/** A way to the database that refuses connections until it is opened. */
async function closedDoor(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let hangsUp = false
  let deadly: string | undefined
  const server = createServer((socket) => {
    if (hangsUp)
      return void socket
        .on('error', () => {})
        .resume()
        .end()
    const upstream = createConnection({ host: hostname, port: Number(port) })
    for (const end of [socket, upstream]) sockets.add(end.on('error', () => {}))
    socket.on('data', (bytes: Buffer) => {
      if (deadly === undefined || !bytes.includes(deadly)) return
      deadly = undefined
      for (const end of sockets) end.destroy()
    })
    socket.pipe(upstream).pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: own } = server.address() as AddressInfo
  await once(server.close(), 'close')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.port = String(own)
  return {
    url: url.href,
    open: () => once(server.listen(own, '127.0.0.1'), 'listening'),
    /** As a proxy whose server is away: it accepts connections and closes them. */
    hangUp(does: boolean) {
      hangsUp = does
    },
    /** The first statement that contains the text breaks every connection; later ones pass. */
    breakAt(text: string) {
      deadly = text
    },
  }
}

async function replicaRows(databaseUrl: string) {
  const { db, close } = connect(databaseUrl, { purpose: 'control' })
  onTestFinished(close)
  return db.selectFrom('q.replica').select(['id', 'stopped_at']).execute()
}

test('a start waits for a database that does not answer yet, reports why, and continues when it answers', async () => {
  const door = await closedDoor((await database()).DATABASE_URL)
  const replica = startMain({ DATABASE_URL: door.url })
  const said = JSON.parse(await replica.line('waiting for the database'))
  expect(said).toMatchObject({ code: 'DATABASE_UNREACHABLE', waitMs: 30_000 })
  await door.open()
  await replica.line('"msg":"started"')
  replica.kill('SIGTERM')
  expect(await replica.ended).toMatchObject({ code: 0 })
})

test('a start waits for the server behind a proxy that accepts connections and closes them', async () => {
  const door = await closedDoor((await database()).DATABASE_URL)
  door.hangUp(true)
  await door.open()
  const replica = startMain({ DATABASE_URL: door.url })
  expect(JSON.parse(await replica.line('waiting for the database'))).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  door.hangUp(false)
  await replica.line('"msg":"started"')
})

test('a start whose connections break after it registered continues as the same replica', async () => {
  const { DATABASE_URL } = await database()
  const door = await closedDoor(DATABASE_URL)
  await door.open()
  door.breakAt('insert into "q"."task"')
  const replica = startMain({ DATABASE_URL: door.url })
  expect(JSON.parse(await replica.line('waiting for the database'))).toMatchObject({ code: 'DATABASE_CONNECTION_LOST' })
  const { replicaId } = JSON.parse(await replica.line('"msg":"started"')) as { replicaId: string }
  expect(await replicaRows(DATABASE_URL)).toEqual([{ id: replicaId, stopped_at: null }])
})

test('a start that fails after the replica registered retires the replica and reports the lost database', async () => {
  const { DATABASE_URL } = await database()
  const door = await closedDoor(DATABASE_URL)
  await door.open()
  door.breakAt('insert into "q"."task"')
  const ended = await startMain({ DATABASE_URL: door.url, Q_DATABASE_WAIT_MS: '0' }).ended
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('DATABASE_CONNECTION_LOST') })
  expect(await replicaRows(DATABASE_URL)).toEqual([{ id: expect.any(String), stopped_at: expect.any(Date) }])
})

test('a start waits for a read-only database, such as a standby that is about to be promoted', async () => {
  const { url, name, drop } = await testDatabase()
  onTestFinished(drop)
  const { db, close } = connect(url, { purpose: 'control' })
  onTestFinished(close)
  const readOnly = (value: 'on' | 'off') =>
    // The pool may have a new connection by then, whose transactions are read-only by default.
    db
      .transaction()
      .setAccessMode('read write')
      .execute((trx) =>
        sql`ALTER DATABASE ${sql.id(name)} SET default_transaction_read_only = ${sql.lit(value)}`.execute(trx),
      )
  await readOnly('on')
  const replica = startMain({ DATABASE_URL: url })
  expect(JSON.parse(await replica.line('waiting for the database'))).toMatchObject({ code: 'DATABASE_READ_ONLY' })
  const impatient = await startMain({ DATABASE_URL: url, Q_DATABASE_WAIT_MS: '0' }).ended
  expect(impatient).toMatchObject({ code: 3, stderr: expect.stringContaining('DATABASE_READ_ONLY') })
  await readOnly('off')
  await replica.line('"msg":"started"')
})

test('a start fails with the reason when the wait takes too long', async () => {
  const door = await closedDoor((await database()).DATABASE_URL)
  const ended = await startMain({ DATABASE_URL: door.url, Q_DATABASE_WAIT_MS: '700' }).ended
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('DATABASE_UNREACHABLE') })
})

test('a permanent problem is reported at once', async () => {
  const { DATABASE_URL } = await database()
  const url = new URL(DATABASE_URL)
  url.pathname = '/no-such-database'
  const ended = await startMain({ DATABASE_URL: url.href, Q_DATABASE_WAIT_MS: '3600000' }).ended
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('DATABASE_MISSING') })
})

const inOrder = {
  code: 0,
  signal: null,
  stderr: '',
  stdout: expect.stringContaining('stopped by a signal before the start was complete'),
}

function toldToLeave(replica: Program): Promise<Ended> {
  replica.kill('SIGTERM')
  return replica.ended
}

test('SIGTERM ends a start that waits for the database', async () => {
  const door = await closedDoor((await database()).DATABASE_URL)
  const replica = startMain({ DATABASE_URL: door.url, Q_DATABASE_WAIT_MS: '3600000' })
  await replica.line('waiting for the database')
  expect(await toldToLeave(replica)).toMatchObject(inOrder)
})

test('a start reports that it waits for another process to migrate, and a signal ends it', async () => {
  const env = await database({ upTo: '0001-task-runs' })
  const other = connect(env.DATABASE_URL, { purpose: 'control' })
  onTestFinished(other.close)
  const { promise: waiting, resolve: go } = Promise.withResolvers<void>()
  const { promise: locked, resolve: held } = Promise.withResolvers<void>()
  const holding = other.db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE q.task_run`.execute(trx)
    held()
    await waiting
  })
  await locked
  const replica = startMain(env)
  await replica.line('its schema is being migrated')
  expect(await toldToLeave(replica)).toMatchObject(inOrder)
  go()
  await holding
})

test('SIGTERM ends a start whose task module never finishes loading; the log names the slow step', async () => {
  const folder = await scratch('q-boot-')
  await writeFile(join(folder, 'endless.mjs'), 'setInterval(() => {}, 1_000)\nawait new Promise(() => {})\n')
  const replica = startMain({ ...(await database()), Q_TASKS: join(folder, 'endless.mjs') })
  await replica.line('loading the task modules')
  expect(await toldToLeave(replica)).toMatchObject(inOrder)
})
