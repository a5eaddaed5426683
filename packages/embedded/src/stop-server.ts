import type { Cluster } from './cluster.ts'
import { sleep } from './sleep.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { isServerOf } from './server-process.ts'

const stopMsMax = 60_000
const lookAgainMs = 20

/**
 * Fast shutdown: ends sessions, rolls back transactions, writes everything to disk. Resolves to whether this server is gone.
 *
 * `pg_ctl stop -w` is not used: it waits until the pid file disappears, and the next starter may have written a new one before
 * pg_ctl checks again. It would then wait for a server that is not stopping.
 */
export async function stopServer(cluster: Cluster): Promise<boolean> {
  const postmaster = await lookAtPostmaster(cluster)
  if (!('pid' in postmaster) || postmaster.pid === 0) return true
  process.kill(postmaster.pid, 'SIGINT')
  for (const deadline = Date.now() + stopMsMax; Date.now() < deadline;) {
    if (!(await isServerOf(cluster, postmaster.pid))) return true
    await sleep(lookAgainMs)
  }
  return false
}
