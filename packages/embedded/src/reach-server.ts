/**
 * From a cluster to a place on its running server: look, join or start, look again, until a deadline.
 *
 * No lock of ours. PostgreSQL's postmaster.pid decides who starts; who loses that race sees the winner's server at the
 * next look and joins it. Every step may be overtaken by another process, so no step is trusted: only an admission
 * ends the loop well.
 */
import { type Admitted, askAdmission } from './admission.ts'
import type { Cluster } from './cluster.ts'
import { pause } from './pause.ts'
import { lookAtPostmaster } from './postmaster.ts'
import type { Programs } from './programs.ts'
import { didNotStart, makeStarter } from './starter.ts'

export interface Reached extends Admitted {
  readonly port: number
  readonly how: 'started' | 'joined' | 'adopted'
  /** It had not ended cleanly: its users may still be there, and come back. */
  readonly recovered: boolean
}

export interface ReachOptions {
  readonly durable: boolean
  readonly timeoutMs: number
  readonly notice: (said: string) => void
}

const LOOK_AGAIN_MS = 50
const ATTEMPT_MS_MIN = 1_000

export async function reachServer(cluster: Cluster, programs: Programs, options: ReachOptions): Promise<Reached> {
  const starter = makeStarter(cluster, programs, options)
  const deadline = Date.now() + options.timeoutMs
  let trouble = 'There was no time to start it.'

  for (let looks = 0; looks === 0 || Date.now() < deadline; looks++) {
    const postmaster = await lookAtPostmaster(cluster)
    switch (postmaster.state) {
      case 'ready': {
        const answer = await askAdmission(cluster, postmaster.port)
        if ('session' in answer) {
          const how = starter.hasStarted(postmaster.pid) ? 'started' : answer.hasOthers ? 'joined' : 'adopted'
          return { ...answer, port: postmaster.port, how, recovered: starter.hasRecovered() }
        }
        trouble = `It refused us: ${answer.refused}.`
        break
      }
      case 'none':
      case 'crashed': {
        const failed = await starter.attempt(postmaster, Math.max(deadline - Date.now(), ATTEMPT_MS_MIN))
        if (failed === undefined) continue
        trouble = failed
        break
      }
      case 'starting':
      case 'stopping':
        trouble = `It is still ${postmaster.state}.`
    }
    await pause(LOOK_AGAIN_MS)
  }
  throw didNotStart(cluster, trouble)
}

/** A place on a server that is there; one that is not is not started. */
export async function joinServer(cluster: Cluster): Promise<Admitted> {
  const postmaster = await lookAtPostmaster(cluster)
  const answer = postmaster.state === 'ready' ? await askAdmission(cluster, postmaster.port) : undefined
  if (answer !== undefined && 'session' in answer) return answer
  throw didNotStart(cluster, 'Nobody is there to be joined.')
}
