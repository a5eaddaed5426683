/**
 * Attempts to start the server, and learns from failed attempts: which ports are taken, whether processes of a killed
 * server block the start, and when to give up.
 */
import type { Cluster } from './cluster.ts'
import { diskFull } from './disk-errors.ts'
import { EmbeddedError } from './embedded-error.ts'
import { choosePort } from './free-port.ts'
import { type FailedLaunch, launch } from './launch.ts'
import { lookAtPostmaster, type Postmaster, removeStaleFile } from './postmaster.ts'
import type { Programs } from './programs.ts'
import { endOrphans } from './server-process.ts'

export interface Starter {
  /** Undefined if the server started; otherwise the reason, if it is temporary. Throws if it is permanent. */
  attempt(postmaster: Postmaster, waitMs: number): Promise<string | undefined>
  /** Whether one of our attempts started this server. */
  hasStarted(pid: number): boolean
  /** Whether a server was found that had not shut down cleanly. */
  hasRecovered(): boolean
}

export interface StarterOptions {
  readonly durable: boolean
  readonly notice: (said: string) => void
}

/** An unexplained failure is retried; the third one is final. */
const unexplainedMax = 3

export function makeStarter(cluster: Cluster, programs: Programs, { durable, notice }: StarterOptions): Starter {
  const takenPorts = new Set<number>()
  const started = new Set<number>()
  let unexplained = 0
  let noticed = false

  const prepareRecovery = async (postmaster: Postmaster): Promise<void> => {
    if (postmaster.state !== 'crashed') return
    if (postmaster.blocks) await removeStaleFile(cluster, postmaster.file)
    if (!noticed) notice('The database server did not shut down cleanly; it recovers all committed data.')
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
    if (unexplained === unexplainedMax) throw didNotStart(cluster, tried.lines)
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
