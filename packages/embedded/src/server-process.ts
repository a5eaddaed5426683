/** Finds the processes of a data directory: on Linux by their working directory in /proc, elsewhere with `ps`. */
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import type { Cluster } from './cluster.ts'
import { errnoOf } from './disk-errors.ts'
import { runProgram } from './run-program.ts'

const psMsMax = 5_000

/** Whether a process belongs to the server: all of its processes have the data directory as working directory. */
export async function isServerOf(cluster: Cluster, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return isSomePostgres(pid)
  const owner = await stat(`/proc/${pid}`).catch(() => undefined)
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  if (owner?.uid !== cluster.user.uid || name.trim() !== 'postgres') return false
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster.data))
  } catch (error) {
    // Without permission, assume that it is ours: waiting for a stranger is better than declaring a live server dead. A zombie has no directory.
    return errnoOf(error) === 'EACCES'
  }
}

/**
 * Ends the processes that a killed server left behind. They hold its shared memory, and a long computation could hold it for
 * hours. SIGQUIT is the signal that their server would have sent: exit at once; WAL replay recovers the data.
 *
 * An orphan is titled `postgres: …` and its parent does not belong to this data directory; neither holds for a server that
 * has just started and its children.
 */
export async function endOrphans(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux') return
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    if (!(pid > 0) || !(await isServerOf(cluster, pid)) || !(await isOrphan(cluster, pid))) continue
    try {
      process.kill(pid, 'SIGQUIT')
    } catch {
      // It has just exited.
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
  const ran = await runProgram('/bin/ps', args, { become: undefined, timeoutMs: psMsMax })
  return ran.code === 0 && /(^|\/)postgres$/.test(ran.output)
}
