/** Which processes belong to a data directory. On Linux the kernel says where a process stands; elsewhere `ps` helps. */
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import type { Cluster } from './cluster.ts'
import { errnoOf } from './disk-trouble.ts'
import { runProgram } from './run-program.ts'

const PS_MS_MAX = 5_000

/** True for the server itself and for every process of it: all of them stand in the data directory. */
export async function isServerOf(cluster: Cluster, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return isSomePostgres(pid)
  const owner = await stat(`/proc/${pid}`).catch(() => undefined)
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  if (owner?.uid !== cluster.user.uid || name.trim() !== 'postgres') return false
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster.data))
  } catch (error) {
    // Not allowed to look: better to wait for a stranger than to take a live server for dead. A zombie stands nowhere.
    return errnoOf(error) === 'EACCES'
  }
}

/**
 * Ends the processes that a killed server left behind. They hold its shared memory, and one in a long computation
 * would hold it for hours. SIGQUIT is what their server would have sent: leave at once, the log heals the data.
 *
 * An orphan calls itself `postgres: …` and has a parent that is not of this data directory; a server that somebody
 * has just started does not, and neither do its children.
 */
export async function endOrphans(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux') return
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    if (!(pid > 0) || !(await isServerOf(cluster, pid)) || !(await isOrphan(cluster, pid))) continue
    try {
      process.kill(pid, 'SIGQUIT')
    } catch {
      // It has just left by itself.
    }
  }
}

async function isOrphan(cluster: Cluster, pid: number): Promise<boolean> {
  const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const parent = /^PPid:\s+(\d+)$/m.exec(status)?.[1]
  return title.startsWith('postgres: ') && parent !== undefined && !(await isServerOf(cluster, Number(parent)))
}

async function isSomePostgres(pid: number): Promise<boolean> {
  const args = ['-o', 'comm=', '-p', String(pid)]
  const ran = await runProgram('/bin/ps', args, { become: undefined, timeoutMs: PS_MS_MAX })
  return ran.code === 0 && /(^|\/)postgres$/.test(ran.output)
}
