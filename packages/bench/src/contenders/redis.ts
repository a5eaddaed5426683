/** Starts a Redis for one sample: on loopback, in a temporary folder; it writes to disk before it acknowledges. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The path of the program; undefined if it is not installed. */
export function redisServer(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, 'redis-server')).find((path) => existsSync(path))
}

export async function startRedis(): Promise<{ url: string } & AsyncDisposable> {
  const dir = await mkdtemp(join(tmpdir(), 'q-bench-redis-'))
  const port = await freePort()
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const child = spawn(
    redisServer() ?? 'redis-server',
    ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, ...durable],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  const exited = once(child, 'exit')
  for await (const text of child.stdout) if (String(text).includes('Ready to accept connections')) break
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      killIt()
      await exited
      process.off('exit', killIt)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
