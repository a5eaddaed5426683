import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedServer, startEmbedded } from '../src/index.ts'
import { ask, withPassword } from './ask.ts'
import { postmasterPid, processesIn, scratch } from './scratch.ts'

const dataDir = join(scratch(), 'db')
let server: EmbeddedServer

beforeAll(async () => {
  server = await startEmbedded({ dataDir })
})
afterAll(() => server.close())

test.each([
  ['fsync', 'on'],
  ['synchronous_commit', 'on'],
  ['full_page_writes', 'on'],
  ['data_checksums', 'on'],
  ['password_encryption', 'scram-sha-256'],
  ['unix_socket_directories', ''],
  ['server_encoding', 'UTF8'],
  ['max_connections', '200'],
  ['tcp_keepalives_idle', '3'],
  ['client_connection_check_interval', '2s'],
])('by default %s is %j', async (name, value) => {
  expect(await ask(server.url, `SELECT current_setting('${name}')`)).toBe(value)
})

test('tables of the application go to schema public, beside a schema q and not into it', async () => {
  for (const statement of [
    'CREATE SCHEMA q',
    'CREATE TABLE q.task ()',
    'CREATE TABLE task ()',
    'CREATE TABLE orders ()',
  ]) {
    await ask(server.url, statement)
  }
  const places = `SELECT string_agg(nspname || '.' || relname, ' ' ORDER BY nspname, relname)
    FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relname IN ('task', 'orders')`
  expect(await ask(server.url, places)).toBe('public.orders public.task q.task')
})

test('a search path that the owner sets for the database or a role applies', async () => {
  await ask(server.url, 'ALTER DATABASE q SET search_path = shop')
  expect(await ask(server.url, `SELECT current_setting('search_path')`)).toBe('shop')
  await ask(server.url, 'ALTER DATABASE q RESET search_path')
})

test('letters beyond ASCII work with any installed locale', async () => {
  expect(await ask(server.url, `SELECT upper('straße, éclair, жук')`)).toBe('STRAßE, ÉCLAIR, ЖУК')
})

test('it listens on loopback and nowhere else', async () => {
  const sockets = listeningSockets(postmasterPid(dataDir))
  expect(sockets).toEqual([{ address: '127.0.0.1', port: Number(new URL(server.url).port) }])
  const outward = Object.values(networkInterfaces())
    .flatMap((cards) => cards ?? [])
    .filter((card) => !card.internal)
  for (const { address } of outward) expect(await canConnect(address, Number(new URL(server.url).port))).toBe(false)
})

test('a connection without the password is rejected', async () => {
  await expect(ask(withPassword(server.url, 'wrong'), 'SELECT 1')).rejects.toThrow(/password authentication failed/)
  const rules = await ask(server.url, `SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules`)
  expect(rules).toBe('scram-sha-256')
})

test('only the database user can read password and data', () => {
  const { uid } = statSync(join(dataDir, 'cluster'))
  for (const [name, mode] of [
    ['', 0o700],
    ['password', 0o600],
    ['data', 0o700],
    ['log', 0o700],
  ] as const) {
    const found = statSync(join(dataDir, 'cluster', name))
    expect([name, found.uid, found.mode & 0o777]).toEqual([name, uid, mode])
  }
  for (const pid of processesIn(dataDir)) expect(statSync(`/proc/${pid}`).uid).toBe(uid)
})

test('the password is in no log file and in no command line', () => {
  const { password } = new URL(server.url)
  const logs = readdirSync(join(dataDir, 'cluster', 'log')).map((name) => join(dataDir, 'cluster', 'log', name))
  const commands = processesIn(dataDir).map((pid) => `/proc/${pid}/cmdline`)
  for (const file of [...logs, ...commands]) expect(readFileSync(file, 'utf8')).not.toContain(password)
})

test('a user that expects durable writes gets a notice when it joins a server without them', async () => {
  const fast = join(scratch(), 'fast')
  const first = await startEmbedded({ dataDir: fast, durable: false })
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    expect(await ask(first.url, `SELECT current_setting('${name}')`)).toBe('off')
  }
  const notices: string[] = []
  const second = await startEmbedded({ dataDir: fast, onNotice: (said) => notices.push(said) })
  expect(notices).toEqual([expect.stringMatching(/without durable writes/)])
  await second.close()
  await first.close()
})

test('any directory works: spaces, quotes, shell characters, and paths longer than a socket path', async () => {
  const odd = join(scratch(), `it's "odd" $HOME \`date\` ü`, 'long '.repeat(40), 'db')
  const there = await startEmbedded({ dataDir: odd, durable: false })
  expect(await ask(there.url, `SELECT current_setting('data_directory')`)).toBe(join(odd, 'cluster', 'data'))
  expect(await there.close()).toBe('stopped')
})

/** From the kernel's tables: the sockets in state LISTEN (0A) that this process has open. */
function listeningSockets(pid: number): { address: string; port: number }[] {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)))
  const tables = ['tcp', 'tcp6'].map((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8'))
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter((fields) => fields[3] === '0A' && open.has(`socket:[${fields[9]}]`))
    .map(([, local = '']) => {
      const [address = '', port = ''] = local.split(':')
      const bytes = address.match(/../g) ?? []
      const readable = bytes.toReversed().map((byte) => Number.parseInt(byte, 16))
      return { address: readable.join('.'), port: Number.parseInt(port, 16) }
    })
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    const answer = (connected: boolean): void => {
      socket.destroy()
      resolve(connected)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
    socket.once('timeout', () => answer(false))
  })
}
