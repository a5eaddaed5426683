/**
 * The PostgreSQL of a benchmark: our embedded one, with durable defaults and a separate data folder. Each sample gets a
 * new database, cloned from a template that holds the schema of its contender.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '@q/embedded'
import type { Contender } from '../contenders/contender.ts'
import { closeConnection, queryRows } from './database.ts'
import { parentOf } from './processes.ts'

export interface BenchServer {
  /** The URL of the maintenance database. */
  readonly url: string
  readonly version: string
  /** The data folder: the probe of the disk writes beside it. */
  readonly dataDir: string
  readonly postmasterPid: number
  /** Creates a database with the contender's schema, or the contender's own place; it is removed at the end. */
  database(contender: Contender): Promise<BenchDatabase>
  close(): Promise<void>
}

export interface BenchDatabase extends AsyncDisposable {
  readonly url: string
}

/** Starts a server in a new temporary folder, which is removed when the benchmark leaves. */
export async function startBenchServer(): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'q-bench-'))
  // PostgreSQL does not run as root: its own user must be able to enter.
  await chmod(dataDir, 0o755)
  const embedded = await startEmbedded({ dataDir })
  return benchServer(embedded.url, {
    version: embedded.version,
    dataDir,
    async close() {
      await embedded.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  })
}

interface ServerLocation {
  readonly version: string
  readonly dataDir: string
  close(): Promise<void>
}

/** `url`: of a role that may create databases. */
export async function benchServer(url: string, { version, dataDir, close }: ServerLocation): Promise<BenchServer> {
  const [backend] = await queryRows<{ pid: number }>(url, 'SELECT pg_backend_pid() AS pid')
  const templates = new Map<string, Promise<string>>()
  const urlOf = (name: string) => Object.assign(new URL(url), { pathname: name }).href
  const drop = (name: string) => queryRows(url, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
  let made = 0

  async function makeTemplate({ name, install }: Contender): Promise<string> {
    const template = `bench_${process.pid}_template_${name.replaceAll(/\W/g, '_')}`
    await drop(template)
    await queryRows(url, `CREATE DATABASE "${template}"`)
    await install(urlOf(template))
    await closeConnection(urlOf(template))
    return template
  }

  return {
    url,
    version,
    dataDir,
    postmasterPid: parentOf(backend?.pid ?? 0),
    async database(contender) {
      if (contender.startBackend !== undefined) return contender.startBackend()
      const template = templates.get(contender.name) ?? makeTemplate(contender)
      templates.set(contender.name, template)
      // The next sample makes it again.
      void template.catch(() => templates.delete(contender.name))
      const name = `bench_${process.pid}_${++made}`
      await queryRows(url, `CREATE DATABASE "${name}" TEMPLATE "${await template}"`)
      return {
        url: urlOf(name),
        async [Symbol.asyncDispose]() {
          await closeConnection(urlOf(name))
          await untilUnused(url, name)
          await drop(name)
        },
      }
    },
    async close() {
      for (const template of templates.values()) await drop(await template)
      await closeConnection(url)
      await close()
    },
  }
}

const unusedMsMax = 5_000

/** Waits until the sessions of a database have ended: a client that is still closing could throw if they were ended for it. */
async function untilUnused(url: string, name: string): Promise<void> {
  const untilMs = performance.now() + unusedMsMax
  while (performance.now() < untilMs) {
    const sessions = await queryRows(url, `SELECT FROM pg_stat_activity WHERE datname = '${name}'`)
    if (sessions.length === 0) return
    await sleep(20)
  }
}
