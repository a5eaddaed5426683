/**
 * A real PostgreSQL for whoever asks: started if it is not there, joined if it is, stopped by its last user.
 *
 * Safe to call from any number of processes at the same moment. Nothing here holds a lock file, keeps a list of users
 * or trusts a pid: see place-once.ts (who creates), reach-server.ts (who starts), keeper.ts (who stops).
 */
import { type Cluster, DATABASE, openCluster, ROLE } from './cluster.ts'
import { findDataHome } from './data-home.ts'
import { keepPlace } from './keeper.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { findPrograms } from './programs.ts'
import { joinServer, type Reached, reachServer } from './reach-server.ts'
import { stopServer } from './stop-server.ts'

export interface EmbeddedOptions {
  /** Where data, password and log live. Without it: `.q/postgres` in the workspace (data-home.ts). */
  dataDir?: string
  /** Default true. False gives up every promise about crashes of the machine, for speed: tests only. */
  durable?: boolean
  /**
   * Default false: the last user to leave stops the server. True: leaving never stops it. `as-found`: a server that ran
   * without any user when we came, or had been killed under its users, goes on when we leave; for short commands.
   */
  stay?: boolean | 'as-found'
  /** Default false. True: as long as we are here, a server that is killed or stopped is started again. */
  revive?: boolean
  /** One sentence for people about something that is unusual but not wrong. */
  onNotice?: (notice: string) => void
  startTimeoutMs?: number
}

export interface EmbeddedServer {
  /** Carries the password: not for logs. */
  readonly url: string
  /** `adopted`: it was running, but whoever used it is gone. */
  readonly how: 'started' | 'joined' | 'adopted'
  readonly dataDir: string
  readonly version: string
  /** Can be called again, with the same answer. */
  leave(): Promise<'stopped' | 'left-running'>
}

const START_MS_MAX = 60_000

export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const { durable = true, stay = false, revive = false, onNotice: notice = () => undefined } = options
  const timeoutMs = options.startTimeoutMs ?? START_MS_MAX

  const home = await findDataHome(options.dataDir, notice)
  const programs = await findPrograms(home, notice)
  const cluster = await openCluster(home, programs, durable)
  const reach = (): Promise<Reached> => reachServer(cluster, programs, { durable, timeoutMs, notice })
  const reached = await reach()
  const keeper = keepPlace(cluster, reached, revive ? reach : () => joinServer(cluster))
  if (durable && !reached.durable) notice('The database server was started by somebody else without durable writes.')

  let leaving: Promise<'stopped' | 'left-running'> | undefined
  const leave = async (): Promise<'stopped' | 'left-running'> => {
    const goesOn = stay === 'as-found' ? reached.how === 'adopted' || reached.recovered : stay
    const stopped = await keeper.leave(async () => !goesOn && (await stopServer(cluster)))
    return (stopped ?? !(await isRunning(cluster))) ? 'stopped' : 'left-running'
  }
  return {
    url: urlOf(cluster, reached),
    how: reached.how,
    dataDir: home.dataDir,
    version: reached.version,
    leave: () => (leaving ??= leave()),
  }
}

async function isRunning(cluster: Cluster): Promise<boolean> {
  const { state } = await lookAtPostmaster(cluster)
  return state !== 'none' && state !== 'crashed'
}

function urlOf(cluster: Cluster, { port }: Reached): string {
  return `postgresql://${ROLE}:${cluster.password}@127.0.0.1:${port}/${DATABASE}`
}
