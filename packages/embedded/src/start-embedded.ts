/**
 * Starts an embedded PostgreSQL, or joins the one that is running; the last user stops it.
 *
 * Any number of processes may call it concurrently. It has no lock file, no list of users, and trusts no pid: see
 * atomic-directory.ts (creation), reach-server.ts (start) and membership.ts (stop).
 */
import { type Cluster, databaseName, openCluster, roleName } from './cluster.ts'
import { findDataHome } from './data-home.ts'
import { keepMembership } from './membership.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { findPrograms } from './programs.ts'
import { joinServer, type ReachedServer, reachServer } from './reach-server.ts'
import { stopServer } from './stop-server.ts'

export interface EmbeddedOptions {
  /** The directory for data, password and log. Default: `.q/postgres` in the workspace (data-home.ts). */
  dataDir?: string
  /** Default true. False trades durability after a machine crash for speed: for tests only. */
  durable?: boolean
  /**
   * Default false: the last user stops the server. True: leaving never stops it. `as-found`: a server that was running without
   * users when we joined, or that had been killed under its users, keeps running; for short commands.
   */
  stay?: boolean | 'as-found'
  /** Default false. True: until we leave, a server that is killed or stopped is started again. */
  revive?: boolean
  /** Receives a sentence for people about something unusual that is not an error. */
  onNotice?: (notice: string) => void
  startTimeoutMs?: number
}

export interface EmbeddedServer {
  /** Contains the password: do not log it. */
  readonly url: string
  /** `adopted`: the server was running without users. */
  readonly how: 'started' | 'joined' | 'adopted'
  readonly dataDir: string
  readonly version: string
  /** Idempotent: later calls return the same result. */
  close(): Promise<'stopped' | 'left-running'>
}

const startMsMax = 60_000

export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const { durable = true, stay = false, revive = false, onNotice: notice = () => undefined } = options
  const timeoutMs = options.startTimeoutMs ?? startMsMax

  const home = await findDataHome(options.dataDir, notice)
  const programs = await findPrograms(home, notice)
  const cluster = await openCluster(home, programs, durable)
  const reach = (): Promise<ReachedServer> => reachServer(cluster, programs, { durable, timeoutMs, notice })
  const reached = await reach()
  const membership = keepMembership(cluster, reached, revive ? reach : () => joinServer(cluster))
  if (durable && !reached.durable) notice('Another process started the database server without durable writes.')

  let leaving: Promise<'stopped' | 'left-running'> | undefined
  const leave = async (): Promise<'stopped' | 'left-running'> => {
    const goesOn = stay === 'as-found' ? reached.how === 'adopted' || reached.recovered : stay
    const stopped = await membership.leave(async () => !goesOn && (await stopServer(cluster)))
    return (stopped ?? !(await isRunning(cluster))) ? 'stopped' : 'left-running'
  }
  return {
    url: urlOf(cluster, reached),
    how: reached.how,
    dataDir: home.dataDir,
    version: reached.version,
    close: () => (leaving ??= leave()),
  }
}

async function isRunning(cluster: Cluster): Promise<boolean> {
  const { state } = await lookAtPostmaster(cluster)
  return state !== 'none' && state !== 'crashed'
}

function urlOf(cluster: Cluster, { port }: ReachedServer): string {
  return `postgresql://${roleName}:${cluster.password}@127.0.0.1:${port}/${databaseName}`
}
