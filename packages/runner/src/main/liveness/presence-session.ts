/**
 * Keeps one session open, which holds the presence lock and receives wakes. The session must answer several pings
 * within the grace; a ping costs no transaction. From time to time it proves that it still has its record and its
 * channels.
 *
 * A lost session is replaced, and the replica sends a heartbeat at once to withdraw its presence record. The same
 * happens if a session breaks while it is being opened. A session that does not answer is closed only when its record is
 * withdrawn or another session has the lock: until then its lock shows that the process lives, however long heartbeats
 * take. Wakes may be lost while there is no session, so every loop that wakes start checks for work once after each
 * (re)connect.
 */
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { ReplicaSession, ReplicaSessionHandlers, Wake } from '@q/store'
import type { Observe } from '../events.ts'
import { proofMs } from './self-fence-limits.ts'
import { after, pause, whenWoken, type Next } from '../loop.ts'
import type { OwnPresence } from './own-presence.ts'

export interface PresenceSessionDeps {
  readonly open: (handlers: ReplicaSessionHandlers) => Promise<ReplicaSession | undefined>
  readonly presence: OwnPresence
  readonly nowMs: () => number
  readonly observe: Observe
  readonly onWake: (wake: Wake) => void
  /** The session is open. Wakes may have been lost before. */
  readonly onOpen: () => void
  /** The session is lost. The next heartbeat must withdraw its record. */
  readonly onLost: () => void
  /** A session broke before it was ready and may have left a record. The next heartbeat must withdraw it. */
  readonly onExposed: () => void
}

export interface PresenceSession {
  tick(): Promise<Next>
  /** Replaces the session: other replicas see that its lock is gone. */
  fail(error: unknown): void
  /** A heartbeat may withdraw the record, even after the replica stopped waiting for its response: the session inserts it again. */
  withdrawing(): void
  /** A heartbeat has withdrawn the record. */
  withdrawn(): void
  /** Replaces the session by one with another lock number. */
  renew(): void
  close(): void
}

/** How often the session proves that it still has its record and its channels. */
const proveEveryMs = 30_000
/** The latest time at which a heartbeat can withdraw the record: the server ends its statement before. */
const withdrawalMsMax = 15_000

/** SQL states of a server that crashed, is shutting down or is starting up. */
const endOfLife = new Set(['57P02', '57P03'])

export function createPresenceSession(deps: PresenceSessionDeps): PresenceSession {
  let session: ReplicaSession | undefined
  /** The last session, which does not answer. The server may still have its lock. */
  let silent: ReplicaSession | undefined
  let unavailable = false
  let provenMs = Number.NEGATIVE_INFINITY
  let withdrawnMs = Number.NEGATIVE_INFINITY

  /** Resolves if the session answers and, when the proof is due, still has its record and its channels. */
  async function proof(one: ReplicaSession, nowMs: number): Promise<void> {
    if (nowMs - provenMs < proveEveryMs && nowMs - withdrawnMs > withdrawalMsMax) return one.ping()
    await one.verify()
    provenMs = nowMs
  }

  function closeSilent(): void {
    silent?.close()
    silent = undefined
  }

  function lose(error: unknown): void {
    closeSilent()
    silent = session
    session = undefined
    deps.presence.lost(deps.nowMs())
    noteEndOfLife(error)
    deps.observe({ type: 'session-lost', error })
    deps.onLost()
  }

  function noteEndOfLife(error: unknown): void {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
    if (typeof code === 'string' && endOfLife.has(code)) deps.presence.serverLifeEnded()
  }

  async function open(): Promise<Next> {
    const sentMs = deps.nowMs()
    let entering = false
    const onEntering = () => {
      entering = true
      deps.presence.entering(deps.nowMs())
    }
    let opened: ReplicaSession | undefined
    const onLost = (error: unknown) => (opened !== undefined && opened === silent ? closeSilent() : lose(error))
    opened = await deps.open({ onWake: deps.onWake, onLost, onEntering }).catch((error: unknown) => {
      deps.presence.lost(deps.nowMs())
      noteEndOfLife(error)
      if (entering) deps.onExposed()
      throw error
    })
    closeSilent()
    if (opened === undefined) {
      unavailable = true
      deps.observe({ type: 'sessions-unavailable' })
      return whenWoken
    }
    session = opened
    provenMs = sentMs
    deps.presence.held(sentMs)
    deps.observe({ type: 'session-opened' })
    deps.onOpen()
    return after(proofMs.every)
  }

  return {
    async tick() {
      if (unavailable) return whenWoken
      if (session === undefined) return open()
      const sentMs = deps.nowMs()
      try {
        await within(proof(session, sentMs), proofMs.max)
        if (session !== undefined) deps.presence.held(sentMs)
      } catch (error) {
        if (session !== undefined) lose(error)
        return after(0)
      }
      return after(proofMs.every)
    },
    fail: lose,
    withdrawing() {
      withdrawnMs = deps.nowMs()
    },
    withdrawn: closeSilent,
    renew() {
      closeSilent()
      session?.close()
      session = undefined
      deps.presence.lost(deps.nowMs())
    },
    close() {
      closeSilent()
      session?.close()
    },
  }
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const done = new AbortController()
  const late = async () => {
    await pause(ms, done.signal)
    await eventLoopTurn() // a thread that was busy for so long reads the answer first
    if (!done.signal.aborted) throw new Error(`The session has not answered for ${ms} ms.`)
  }
  await Promise.race([work, late()]).finally(() => done.abort())
}
