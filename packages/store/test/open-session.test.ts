import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { openSession } from '../src/connection/open-session.ts'

/** Accepts connections and closes them, like a load balancer without servers. */
async function nobodyBehind(): Promise<string> {
  const server = createServer((socket) => void socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `postgresql://q:q@127.0.0.1:${(server.address() as AddressInfo).port}/q`
}

async function sessionOf(url: string) {
  const losses: unknown[] = []
  const session = await openSession(url, 'test', { onLost: (error) => void losses.push(error) })
  onTestFinished(() => session.close())
  return { session, losses }
}

test('a session that could not be opened rejects, and reports no loss', async () => {
  const losses: unknown[] = []
  const opening = openSession(await nobodyBehind(), 'test', { onLost: (error) => void losses.push(error) })
  await expect(opening).rejects.toThrow('terminated')
  expect(losses).toEqual([])
})

test('a session that breaks while it is being prepared rejects, and reports no loss', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.drop())
  const { session, losses } = await sessionOf(database.url)
  const preparing = session.prepare((ask) => ask('SELECT pg_terminate_backend(pg_backend_pid())'))
  await expect(preparing).rejects.toThrow('terminat')
  expect(losses).toEqual([])
})

test('a ready session reports its loss once', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.drop())
  const { session, losses } = await sessionOf(database.url)
  await session.prepare((ask) => ask('LISTEN q_ready'))
  await expect(session.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow('terminat')
  await expect.poll(() => losses).toHaveLength(1)
})
