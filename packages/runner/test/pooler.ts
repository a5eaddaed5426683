/** pgbouncer in front of a database, for the time of a test. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually } from './fixture.ts'

export const poolerIsInstalled: boolean = spawnSync('pgbouncer', ['--version']).status === 0

/** The URL of the same database through it. */
export async function startPooler(
  databaseUrl: string,
  mode: 'transaction' | 'session' = 'transaction',
): Promise<string> {
  const server = new URL(databaseUrl)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'q-pooler-'))
  chmodSync(folder, 0o711)
  const config = join(folder, 'pgbouncer.ini')
  const login = `user=${server.username} password=${decodeURIComponent(server.password)}`
  writeFileSync(
    config,
    [
      '[databases]',
      `* = host=${server.hostname} port=${server.port} ${login}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${mode}`,
      'max_client_conn = 200',
      'default_pool_size = 20',
      '',
    ].join('\n'),
    { mode: 0o644 },
  )
  const unprivileged = 65_534 // it refuses to run as root
  const identity = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {}
  const pooler = spawn('pgbouncer', [config], { stdio: 'ignore', ...identity })
  const ended = new Promise((resolve) => pooler.once('exit', resolve))
  onTestFinished(async () => {
    pooler.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  await eventually(() => answers(port), 'pgbouncer listens')
  const url = new URL(databaseUrl)
  url.port = String(port)
  url.hostname = '127.0.0.1'
  return url.href
}

function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(undefined))
    socket.once('close', () => resolve(undefined))
    socket.once('connect', () => socket.destroy())
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
