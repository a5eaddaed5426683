import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbedded } from '../src/index.ts'
import { ask, countUsers } from './ask.ts'
import { otherProcess } from './other-process.ts'
import { processesIn, scratch, until } from './scratch.ts'

const members = `FROM pg_stat_activity WHERE application_name = 'q embedded member' AND datname = 'postgres'`
const dataDir = join(scratch(), 'db')
const start = (): ReturnType<typeof startEmbedded> => startEmbedded({ dataDir, durable: false })

test('a started server answers, and is stopped when its only user leaves', async () => {
  const server = await start()
  expect(server).toMatchObject({ how: 'started', dataDir, version: expect.stringMatching(/^18\./) })
  expect(server.url).toMatch(/^postgresql:\/\/q:[\w-]{32}@127\.0\.0\.1:\d+\/q$/)
  expect(await ask(server.url, 'SELECT current_database()')).toBe('q')
  expect(await server.close()).toBe('stopped')
  await until(() => processesIn(dataDir).length === 0)
  expect(await server.close(), 'leaving again gives the same answer').toBe('stopped')
})

test('the port stays the same over restarts', async () => {
  const first = await start()
  await first.close()
  const second = await start()
  await second.close()
  expect(second.url).toBe(first.url)
})

test('leaving keeps the server running for other users; the last user stops it', async () => {
  const first = await start()
  const second = await otherProcess({ dataDir })
  expect(second).toMatchObject({ how: 'joined', url: first.url })
  expect(await first.close()).toBe('left-running')
  expect(await ask(second.url, 'SELECT 1')).toBe(1)
  expect(await second.leave()).toBe('stopped')
})

test('with stay the last user leaves it running, and the next one adopts it', async () => {
  const staying = await startEmbedded({ dataDir, durable: false, stay: true })
  expect(await staying.close()).toBe('left-running')
  const next = await start()
  expect(next).toMatchObject({ how: 'adopted', url: staying.url })
  expect(await next.close()).toBe('stopped')
})

test('a user whose session was terminated joins again', async () => {
  const server = await start()
  await ask(server.url, `SELECT pg_terminate_backend(pid, 5000) ${members}`)
  await until(async () => (await countUsers(server.url)) === 1)
  const guest = await start()
  expect(guest.how).toBe('joined')
  expect(await guest.close()).toBe('left-running')
  expect(await server.close()).toBe('stopped')
})

test('a user who leaves right after losing its session still stops the server', async () => {
  const server = await start()
  await ask(server.url, `SELECT pg_terminate_backend(pid, 5000) ${members}`)
  expect(await server.close()).toBe('stopped')
})

test('a forgotten leave neither keeps the process alive nor stops the server', async () => {
  const forgetful = await otherProcess({ dataDir, mode: 'forget' })
  if (forgetful.child.exitCode === null) await once(forgetful.child, 'exit')
  expect(forgetful.child.exitCode).toBe(0)
  await until(async () => (await countUsers(forgetful.url)) === 0)
  const next = await start()
  expect(next.how).toBe('adopted')
  expect(await next.close()).toBe('stopped')
})

test('a dropped database is created again', async () => {
  const server = await start()
  await ask(server.url.replace(/\/q$/, '/postgres'), 'DROP DATABASE q')
  const next = await start()
  expect(await ask(next.url, 'SELECT current_database()')).toBe('q')
  await next.close()
  await server.close()
})
