/**
 * Keeps this process a user of the server until it leaves.
 *
 * One session holds the users' lock; kill -9 closes it, so nothing can go stale. If the session is lost (terminated
 * manually, server restarted), a new one is opened silently as soon as a server runs: the callers notice problems on their own
 * connections. With `revive`, this process starts the server itself. Until the lock is held again, another user that leaves
 * may consider itself the last and stop the server.
 */
import { type JoinedServer, openMaintenanceSession, usersLock } from './join-server.ts'
import type { Cluster } from './cluster.ts'
import { sleepInBackground } from './sleep.ts'
import { lookAtPostmaster } from './postmaster.ts'
import { closeSession, keepProcessAlive, letProcessEnd, type ServerSession } from './server-session.ts'

export interface Membership {
  /**
   * Ends the membership. If this was the last user, `whenLast` runs while no process can join, and its result is returned;
   * otherwise undefined.
   */
  leave(whenLast: () => Promise<boolean>): Promise<boolean | undefined>
}

const returnPauseMs = 100
const returnPauseMsMax = 2_000

/** `enter` joins the server again, and may fail. */
export function keepMembership(
  cluster: Cluster,
  joined: JoinedServer,
  rejoin: () => Promise<JoinedServer>,
): Membership {
  let session: ServerSession | undefined
  let returning: Promise<void> | undefined
  const ended = new AbortController()

  const hold = (held: ServerSession): void => {
    session = held
    held.once('end', () => {
      session = undefined
      if (!ended.signal.aborted) returning = rejoinUntilDone()
    })
    letProcessEnd(held)
  }

  const rejoinUntilDone = async (): Promise<void> => {
    for (let tries = 0; ; tries++) {
      await sleepInBackground(Math.min(returnPauseMs * 2 ** tries, returnPauseMsMax), ended.signal)
      if (ended.signal.aborted) return
      const again = await rejoin().catch(() => undefined)
      if (again !== undefined) return hold(again.session)
    }
  }

  hold(joined.session)

  return {
    async leave(whenLast) {
      ended.abort()
      await returning
      // The session may be dead without our knowledge: then use a new one.
      for (const open of [() => session, () => sessionForLeaving(cluster)]) {
        const own = await open()
        const answer = own === undefined ? 'lost' : await releaseUsersLock(own, whenLast)
        if (answer !== 'lost') return answer
      }
      return undefined
    },
  }
}

async function releaseUsersLock(
  session: ServerSession,
  whenLast: () => Promise<boolean>,
): Promise<boolean | undefined | 'lost'> {
  keepProcessAlive(session)
  try {
    await session.query(`SELECT pg_advisory_unlock_shared(${usersLock})`)
    const { rows } = await session.query<{ last: boolean }>(`SELECT pg_try_advisory_lock(${usersLock}) AS last`)
    return rows[0]?.last === true ? await whenLast() : undefined
  } catch {
    return 'lost'
  } finally {
    await closeSession(session)
  }
}

async function sessionForLeaving(cluster: Cluster): Promise<ServerSession | undefined> {
  const postmaster = await lookAtPostmaster(cluster)
  if (postmaster.state !== 'ready') return undefined
  return openMaintenanceSession(cluster, postmaster.port).catch(() => undefined)
}
