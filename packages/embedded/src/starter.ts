/**
 * Attempts to start the server, and what is learned from those that fail: which ports are taken, whether a killed
 * server's processes are in the way, and when it is time to give up.
 */
import type { Cluster } from './cluster.ts'
import { diskFull } from './disk-trouble.ts'
import { EmbeddedError } from './embedded-error.ts'
import { choosePort } from './free-port.ts'
import { type FailedLaunch, launch } from './launch.ts'
import { lookAtPostmaster, type Postmaster, removeStaleFile } from './postmaster.ts'
import type { Programs } from './programs.ts'
import { endOrphans } from './server-process.ts'

export interface Starter {
  /** Undefined: it started. Otherwise what was in the way and may pass; what will not pass is thrown. */
  attempt(postmaster: Postmaster, waitMs: number): Promise<string | undefined>
  /** Was this server started by an attempt of ours? */
  hasStarted(pid: number): boolean
  /** Was a server found that had not ended cleanly? */
  hasRecovered(): boolean
}

export interface StarterOptions {
  readonly durable: boolean
  readonly notice: (said: string) => void
}

/** A failure that nothing here explains may be chance once; three times is an answer. */
const UNEXPLAINED_MAX = 3

export function makeStarter(cluster: Cluster, programs: Programs, { durable, notice }: StarterOptions): Starter {
  const takenPorts = new Set<number>()
  const started = new Set<number>()
  let unexplained = 0
  let noticed = false

  const prepareRecovery = async (postmaster: Postmaster): Promise<void> => {
    if (postmaster.state !== 'crashed') return
    if (postmaster.blocks) await removeStaleFile(cluster, postmaster.file)
    if (!noticed) notice('The database server did not end cleanly last time; it recovers what was committed.')
    noticed = true
  }

  const remember = async (): Promise<undefined> => {
    const postmaster = await lookAtPostmaster(cluster)
    if ('pid' in postmaster) started.add(postmaster.pid)
  }

  const learn = async (tried: FailedLaunch, port: number): Promise<string> => {
    if (tried.kind === 'disk-full') throw diskFull(cluster.dataDir)
    if (tried.kind === 'raced') return 'Another process was starting it.'
    if (tried.kind === 'port-taken') {
      takenPorts.add(port)
      return `Port ${port} was taken.`
    }
    if (tried.kind === 'orphans') {
      await endOrphans(cluster)
      return 'Processes of a killed server still held its shared memory.'
    }
    unexplained += 1
    if (unexplained === UNEXPLAINED_MAX) throw didNotStart(cluster, tried.lines)
    return tried.lines
  }

  return {
    async attempt(postmaster, waitMs) {
      await prepareRecovery(postmaster)
      const port = await choosePort(cluster, takenPorts)
      const tried = await launch(cluster, programs, { port, durable, waitMs })
      return tried.kind === 'launched' ? remember() : learn(tried, port)
    },
    hasStarted: (pid) => started.has(pid),
    hasRecovered: () => noticed,
  }
}

export function didNotStart(cluster: Cluster, why: string): EmbeddedError {
  return new EmbeddedError({
    code: 'SERVER_DID_NOT_START',
    what: `The database server in ${cluster.dataDir} did not start.`,
    why,
    fix: `Read the log in ${cluster.log}; if the server is still recovering, wait and start again.`,
  })
}
