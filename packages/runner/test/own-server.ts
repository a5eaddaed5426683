/** A database server for one test, which it can stop and start. */
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startEmbedded, type EmbeddedServer } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import { eventually } from './fixture.ts'

export interface OwnServer {
  readonly url: string
  /** SIGINT: in order, sessions cut. SIGQUIT: at once, as in a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** On the same port. */
  start(): Promise<void>
}

export async function ownServer(): Promise<OwnServer> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'q-server-')))
  chmodSync(dataDir, 0o711)
  const begin = (): Promise<EmbeddedServer> => startEmbedded({ dataDir })
  let server = await begin()
  onTestFinished(async () => {
    await server.close()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  await migrateDatabase(server.url)
  return {
    url: server.url,
    async stop(signal) {
      const pid = Number.parseInt(readFileSync(join(dataDir, 'cluster', 'data', 'postmaster.pid'), 'utf8'), 10)
      process.kill(pid, signal)
      await eventually(() => (isAlive(pid) ? undefined : true), 'the server stops')
    },
    async start() {
      const before = server
      server = await begin()
      await before.close()
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
