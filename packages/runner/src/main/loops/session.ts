/**
 * Keeps one session open: presence lock and wakes. It must answer a ping several times within the grace, which costs
 * no transaction, and proves from time to time that it still has its record and its channels. One that is lost is
 * replaced, and the replica beats at once, withdrawing its presence record; so it does after one that broke while it was
 * being opened. After every (re)connect everything that is woken by hints looks once: hints may have been lost.
 */
import type { ReplicaSession, ReplicaSessionHandlers, Wake } from '@q/store'
import type { Observe } from '../events.ts'
import { proofMs } from '../fence-bound.ts'
import { after, pause, whenWoken, type Next } from '../loop.ts'
import type { OwnPresence } from '../presence.ts'

export interface SessionDeps {
  readonly open: (handlers: ReplicaSessionHandlers) => Promise<ReplicaSession | undefined>
  readonly presence: OwnPresence
  readonly nowMs: () => number
  readonly observe: Observe
  readonly onWake: (wake: Wake) => void
  /** Hints may have been lost. */
  readonly onOpen: () => void
  /** To be told to the database, and replaced. */
  readonly onLost: () => void
  /** To be told to the database: one that never became ready may have left a record. */
  readonly onExposed: () => void
}

export interface Session {
  tick(): Promise<Next>
  /** Others see that it is gone, whatever we think. */
  fail(error: unknown): void
  /** A heartbeat may withdraw the record, even after the replica stopped waiting for its response: the session inserts it again. */
  withdrawing(): void
  /** A session under another number is needed. */
  renew(): void
  close(): void
}

/** How often the session proves that it still has its record and its channels. */
const proveEveryMs = 30_000
/** The latest time at which a heartbeat can withdraw the record: the server ends its statement before. */
const withdrawalMsMax = 15_000

/** Shutting down or starting up; crashed. */
const endOfLife = new Set(['57P02', '57P03'])

export function createSession(deps: SessionDeps): Session {
  let session: ReplicaSession | undefined
  let unavailable = false
  let provenMs = Number.NEGATIVE_INFINITY
  let withdrawnMs = Number.NEGATIVE_INFINITY

  /** Resolves if the session answers and, when the proof is due, still has its record and its channels. */
  async function proof(one: ReplicaSession, nowMs: number): Promise<void> {
    if (nowMs - provenMs < proveEveryMs && nowMs - withdrawnMs > withdrawalMsMax) return one.ping()
    await one.prove()
    provenMs = nowMs
  }

  function lose(error: unknown): void {
    session?.close()
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
    const opened = await deps.open({ onWake: deps.onWake, onLost: lose, onEntering }).catch((error: unknown) => {
      deps.presence.lost(deps.nowMs())
      noteEndOfLife(error)
      if (entering) deps.onExposed()
      throw error
    })
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
    renew() {
      session?.close()
      session = undefined
      deps.presence.lost(deps.nowMs())
    },
    close: () => session?.close(),
  }
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const done = new AbortController()
  const late = async () => {
    await pause(ms, done.signal)
    if (!done.signal.aborted) throw new Error(`The session has not answered for ${ms} ms.`)
  }
  await Promise.race([work, late()]).finally(() => done.abort())
}
