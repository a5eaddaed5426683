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
import type { ReplicaSession, ReplicaSessionHandlers, Wake } from '@q/store'
import type { Observe } from '../events.ts'
import { proofMs } from './self-fence-limits.ts'
import { after, eventLoopTurn, pause, whenWoken, type Next } from '../loop.ts'
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
  const sessions = createSessions()
  const proofs = createProofs(deps.nowMs)
  let unavailable = false

  function lose(error: unknown): void {
    sessions.markSilent()
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
    let opened: ReplicaSession | undefined
    const handlers: ReplicaSessionHandlers = {
      onWake: deps.onWake,
      onLost: (error) => (sessions.isSilent(opened) ? sessions.closeSilent() : lose(error)),
      onEntering() {
        entering = true
        deps.presence.entering(deps.nowMs())
      },
    }
    opened = await deps.open(handlers).catch((error: unknown) => {
      deps.presence.lost(deps.nowMs())
      noteEndOfLife(error)
      if (entering) deps.onExposed()
      throw error
    })
    sessions.use(opened)
    if (opened === undefined) {
      unavailable = true
      deps.observe({ type: 'sessions-unavailable' })
      return whenWoken
    }
    proofs.given(sentMs)
    deps.presence.held(sentMs)
    deps.observe({ type: 'session-opened' })
    deps.onOpen()
    return after(proofMs.every)
  }

  return {
    async tick() {
      if (unavailable) return whenWoken
      const session = sessions.current()
      if (session === undefined) return open()
      const sentMs = deps.nowMs()
      try {
        await within(proofs.proof(session, sentMs), proofMs.max)
        if (sessions.current() !== undefined) deps.presence.held(sentMs)
      } catch (error) {
        if (sessions.current() !== undefined) lose(error)
        return after(0)
      }
      return after(proofMs.every)
    },
    fail: lose,
    withdrawing: proofs.withdrawing,
    withdrawn: sessions.closeSilent,
    renew() {
      sessions.close()
      sessions.use(undefined)
      deps.presence.lost(deps.nowMs())
    },
    close: sessions.close,
  }
}

/** The session in use, and the last one that did not answer, until it is closed: the server may still have its lock. */
function createSessions() {
  let current: ReplicaSession | undefined
  let silent: ReplicaSession | undefined
  function closeSilent(): void {
    silent?.close()
    silent = undefined
  }
  function use(session: ReplicaSession | undefined): void {
    closeSilent()
    current = session
  }
  return {
    current: () => current,
    use,
    /** The session in use does not answer. */
    markSilent() {
      closeSilent()
      silent = current
      current = undefined
    },
    isSilent: (session: ReplicaSession | undefined) => session !== undefined && session === silent,
    closeSilent,
    close() {
      closeSilent()
      current?.close()
    },
  }
}

/** A ping, and from time to time, and after a withdrawal, a proof that record and channels are still there. */
function createProofs(nowMs: () => number) {
  let provenMs = Number.NEGATIVE_INFINITY
  let withdrawnMs = Number.NEGATIVE_INFINITY
  return {
    given: (atMs: number) => void (provenMs = atMs),
    withdrawing: () => void (withdrawnMs = nowMs()),
    async proof(session: ReplicaSession, atMs: number): Promise<void> {
      if (atMs - provenMs < proveEveryMs && atMs - withdrawnMs > withdrawalMsMax) return session.ping()
      await session.verify()
      provenMs = atMs
    },
  }
}

/** Rejects if the work takes longer. A thread that was busy for that long reads the answer first. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  const done = new AbortController()
  const late = async () => {
    await pause(ms, done.signal)
    await eventLoopTurn()
    if (!done.signal.aborted) throw new Error(`The session has not answered for ${ms} ms.`)
  }
  await Promise.race([work, late()]).finally(() => done.abort())
}
