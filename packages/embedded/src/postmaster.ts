/**
 * Reads postmaster.pid and checks it against the process that it names.
 *
 * PostgreSQL's own file is the only lock: it decides which process starts, and it has port and state. But the file outlives a
 * killed server, and its pid may have been reused by another program or another PostgreSQL, or be a zombie. A process is our
 * server only if it runs as the database user with our data directory as its working directory.
 */
import { link, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { isServerOf } from './server-process.ts'

export type Postmaster =
  | { readonly state: 'none' }
  /** The file exists, but its server does not: a start will recover. `blocks`: PostgreSQL would consider the server alive. */
  | { readonly state: 'crashed'; readonly blocks: boolean; readonly file: string }
  | { readonly state: 'starting' | 'stopping'; readonly pid: number }
  | { readonly state: 'ready'; readonly pid: number; readonly port: number }

/** An empty file belongs to a server that is just starting, unless it is old. */
const emptyMsMax = 5_000

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
 * Removes a stale file that would block forever. It moves the file first and compares it then: if a new server has just
 * replaced the file, it moves it back.
 */
export async function removeStaleFile(cluster: Cluster, stale: string): Promise<void> {
  const aside = `${pidFile(cluster)}.stale-${process.pid}`
  try {
    await rename(pidFile(cluster), aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, pidFile(cluster))
  } catch {
    // Another process removed or replaced it; the next check sees the result.
  } finally {
    await rm(aside, { force: true })
  }
}

/** The options of the last start that reached listening, so that the port stays the same over restarts. */
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
  if (Date.now() - made.mtimeMs < emptyMsMax) return { state: 'starting', pid: 0 }
  return { state: 'crashed', blocks: true, file }
}

/** Also true for a zombie, as in PostgreSQL. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
