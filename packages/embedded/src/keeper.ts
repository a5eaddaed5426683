/**
 * Keeps this process a user of the server until it leaves.
 *
 * One session holds the users' lock; kill -9 closes it, so nothing can go stale. If the session is lost while we are
 * here (ended by hand, server restarted), a new one is made, quietly, as soon as there is a server: the lock says that
 * somebody is here, and whoever works with the server sees its troubles on connections of their own. A user who revives
 * starts the server itself if it is gone. In the gap another user who leaves may find nobody, and stop the server.
 */
import { type Admitted, openMaintenance, USERS_LOCK } from './admission.ts'
import type { Cluster } from './cluster.ts'
import { pauseInBackground } from './pause.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { closeSession, keepProcessAlive, letProcessEnd, type Session } from './session.ts'

export interface Keeper {
  /**
   * Gives the place up. `whenLast` runs while nobody can become a user, and only if nobody is one; its answer is
   * returned, undefined if it did not run.
   */
  leave(whenLast: () => Promise<boolean>): Promise<boolean | undefined>
}

const RETURN_PAUSE_MS = 100
const RETURN_PAUSE_MS_MAX = 2_000

/** `enter` asks for a place anew, and may fail. */
export function keepPlace(cluster: Cluster, admitted: Admitted, enter: () => Promise<Admitted>): Keeper {
  let session: Session | undefined
  let returning: Promise<void> | undefined
  const left = new AbortController()

  const hold = (held: Session): void => {
    session = held
    held.once('end', () => {
      session = undefined
      if (!left.signal.aborted) returning = comeBack()
    })
    letProcessEnd(held)
  }

  const comeBack = async (): Promise<void> => {
    for (let tries = 0; ; tries++) {
      await pauseInBackground(Math.min(RETURN_PAUSE_MS * 2 ** tries, RETURN_PAUSE_MS_MAX), left.signal)
      if (left.signal.aborted) return
      const again = await enter().catch(() => undefined)
      if (again !== undefined) return hold(again.session)
    }
  }

  hold(admitted.session)

  return {
    async leave(whenLast) {
      left.abort()
      await returning
      // The own session may be dead without our knowing yet: then a new one does it.
      for (const open of [() => session, () => sessionForLeaving(cluster)]) {
        const own = await open()
        const answer = own === undefined ? 'lost' : await giveUp(own, whenLast)
        if (answer !== 'lost') return answer
      }
      return undefined
    },
  }
}

async function giveUp(session: Session, whenLast: () => Promise<boolean>): Promise<boolean | undefined | 'lost'> {
  keepProcessAlive(session)
  try {
    await session.query(`SELECT pg_advisory_unlock_shared(${USERS_LOCK})`)
    const { rows } = await session.query<{ last: boolean }>(`SELECT pg_try_advisory_lock(${USERS_LOCK}) AS last`)
    return rows[0]?.last === true ? await whenLast() : undefined
  } catch {
    return 'lost'
  } finally {
    await closeSession(session)
  }
}

async function sessionForLeaving(cluster: Cluster): Promise<Session | undefined> {
  const postmaster = await lookAtPostmaster(cluster)
  if (postmaster.state !== 'ready') return undefined
  return openMaintenance(cluster, postmaster.port).catch(() => undefined)
}
