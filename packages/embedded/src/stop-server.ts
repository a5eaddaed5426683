import type { Cluster } from './cluster.ts'
import { pause } from './pause.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { isServerOf } from './server-process.ts'

const STOP_MS_MAX = 60_000
const LOOK_AGAIN_MS = 20

/**
 * Fast shutdown: sessions are cut, transactions rolled back, everything is on disk. True when this server is gone.
 *
 * Not by `pg_ctl stop -w`: that waits for the pid file to vanish, and whoever is waiting to start the next server may
 * have written a new one before pg_ctl looks again. It then waits for a server that nobody is stopping.
 */
export async function stopServer(cluster: Cluster): Promise<boolean> {
  const postmaster = await lookAtPostmaster(cluster)
  if (!('pid' in postmaster) || postmaster.pid === 0) return true
  process.kill(postmaster.pid, 'SIGINT')
  for (const deadline = Date.now() + STOP_MS_MAX; Date.now() < deadline;) {
    if (!(await isServerOf(cluster, postmaster.pid))) return true
    await pause(LOOK_AGAIN_MS)
  }
  return false
}
