/**
 * Joins the running server of a cluster, or starts it: check, join or start, check again, until a deadline.
 *
 * It has no lock of its own. PostgreSQL's postmaster.pid decides which process starts the server; the others see it at the
 * next check and join it. Another process may interfere with every step, so only a successful join ends the loop.
 */
import { type JoinedServer, tryToJoin } from './join-server.ts'
import type { Cluster } from './cluster.ts'
import { sleep } from './sleep.ts'
import { lookAtPostmaster } from './postmaster.ts'
import type { Programs } from './programs.ts'
import { didNotStart, makeStarter } from './starter.ts'

export interface ReachedServer extends JoinedServer {
  readonly port: number
  readonly how: 'started' | 'joined' | 'adopted'
  /** The server had not shut down cleanly: its users may still exist and come back. */
  readonly recovered: boolean
}

export interface ReachOptions {
  readonly durable: boolean
  readonly timeoutMs: number
  readonly notice: (said: string) => void
}

const lookAgainMs = 50
const attemptMsMin = 1_000

export async function reachServer(cluster: Cluster, programs: Programs, options: ReachOptions): Promise<ReachedServer> {
  const starter = makeStarter(cluster, programs, options)
  const deadline = Date.now() + options.timeoutMs
  let trouble = 'There was no time to start it.'

  for (let looks = 0; looks === 0 || Date.now() < deadline; looks++) {
    const postmaster = await lookAtPostmaster(cluster)
    switch (postmaster.state) {
      case 'ready': {
        const answer = await tryToJoin(cluster, postmaster.port)
        if ('session' in answer) {
          const how = starter.hasStarted(postmaster.pid) ? 'started' : answer.hasOthers ? 'joined' : 'adopted'
          return { ...answer, port: postmaster.port, how, recovered: starter.hasRecovered() }
        }
        trouble = `It refused us: ${answer.refused}.`
        break
      }
      case 'none':
      case 'crashed': {
        const failed = await starter.attempt(postmaster, Math.max(deadline - Date.now(), attemptMsMin))
        if (failed === undefined) continue
        trouble = failed
        break
      }
      case 'starting':
      case 'stopping':
        trouble = `It is still ${postmaster.state}.`
    }
    await sleep(lookAgainMs)
  }
  throw didNotStart(cluster, trouble)
}

/** Joins a running server; starts none. */
export async function joinServer(cluster: Cluster): Promise<JoinedServer> {
  const postmaster = await lookAtPostmaster(cluster)
  const answer = postmaster.state === 'ready' ? await tryToJoin(cluster, postmaster.port) : undefined
  if (answer !== undefined && 'session' in answer) return answer
  throw didNotStart(cluster, 'No server is running.')
}
