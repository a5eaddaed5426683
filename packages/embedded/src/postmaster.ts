/**
 * What postmaster.pid says, checked against the process it names.
 *
 * PostgreSQL's own file is the only lock: it decides who starts, and it tells port and state. But a file outlives a
 * killed server, and its pid may be somebody else's by now: another program, another PostgreSQL, a zombie that nobody
 * collects. A process is our server only if it runs as the database user and stands in our data directory.
 */
import { link, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { isServerOf } from './server-process.ts'

export type Postmaster =
  | { readonly state: 'none' }
  /** The file is there, its server is not: recovery is due. `blocks`: PostgreSQL would take it for a live one. */
  | { readonly state: 'crashed'; readonly blocks: boolean; readonly file: string }
  | { readonly state: 'starting' | 'stopping'; readonly pid: number }
  | { readonly state: 'ready'; readonly pid: number; readonly port: number }

/** An empty file is a server in its first moment, unless that moment was long ago. */
const EMPTY_MS_MAX = 5_000

export async function lookAtPostmaster(cluster: Cluster): Promise<Postmaster> {
  const file = await readFile(pidFile(cluster), 'utf8').catch(() => undefined)
  if (file === undefined) return { state: 'none' }
  const [pidLine = '', , , portLine = '', , , , status = ''] = file.split('\n')
  const pid = Number.parseInt(pidLine, 10)
  if (!(pid > 0)) return emptyFile(cluster, file)
  if (!(await isServerOf(cluster, pid))) return { state: 'crashed', blocks: exists(pid), file }
  const port = Number.parseInt(portLine, 10)
  if (status.trim() === 'ready' && port > 0) return { state: 'ready', pid, port }
  return { state: status.trim() === 'stopping' ? 'stopping' : 'starting', pid }
}

/**
 * Takes a file out of the way that would block for ever. Moved first and compared then: if somebody's new server has
 * just replaced it, it goes back.
 */
export async function removeStaleFile(cluster: Cluster, stale: string): Promise<void> {
  const aside = `${pidFile(cluster)}.stale-${process.pid}`
  try {
    await rename(pidFile(cluster), aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, pidFile(cluster))
  } catch {
    // Gone or replaced by somebody else: the next look tells.
  } finally {
    await rm(aside, { force: true })
  }
}

/** The options of the last start that came as far as listening, so that a port stays the same over restarts. */
export async function portOfLastLife(cluster: Cluster): Promise<number | undefined> {
  const options = await readFile(join(cluster.data, 'postmaster.opts'), 'utf8').catch(() => '')
  const port = /"-p" "(\d+)"/.exec(options)?.[1]
  return port === undefined ? undefined : Number(port)
}

function pidFile(cluster: Cluster): string {
  return join(cluster.data, 'postmaster.pid')
}

async function emptyFile(cluster: Cluster, file: string): Promise<Postmaster> {
  const made = await stat(pidFile(cluster)).catch(() => undefined)
  if (made === undefined) return { state: 'none' }
  if (Date.now() - made.mtimeMs < EMPTY_MS_MAX) return { state: 'starting', pid: 0 }
  return { state: 'crashed', blocks: true, file }
}

/** Also true for a zombie, as it is for PostgreSQL. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
