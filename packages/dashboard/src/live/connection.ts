/**
 * The state of the page's own data: whether the stream is open, since when the database is away, whether the person froze
 * the page. One store for the tab; the header, the banner and every button read it.
 */
import { useSyncExternalStore } from 'react'
import { serverNow } from './server-clock.ts'

export type Mode = 'connecting' | 'live' | 'polling'

export interface Away {
  readonly what: 'database' | 'server'
  /** By the clock of the server. */
  readonly since: number
  readonly why: string
}

/** Data that cannot be read, while other data can. */
export interface OldData {
  readonly name: string
  readonly since: number
  readonly why: string
}

export interface ConnectionState {
  readonly mode: Mode
  /** By the topic of the stream, or by the path that is asked for. */
  readonly old: ReadonlyMap<string, OldData>
  readonly frozenAt: number | null
  readonly away: Away | null
  /** When the newest data was read, by the clock of the server. Null: none has arrived yet. */
  readonly lastAt: number | null
  readonly isSignedOut: boolean
}

let state: ConnectionState = {
  mode: 'connecting',
  old: new Map(),
  frozenAt: null,
  away: null,
  lastAt: null,
  isSignedOut: false,
}
const listeners = new Set<() => void>()
const returned = new Set<() => void>()

export const connection = {
  get: (): ConnectionState => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  /** Calls back when the data is good again after it was not. */
  onReturn(listener: () => void): () => void {
    returned.add(listener)
    return () => returned.delete(listener)
  },
  setMode(mode: Mode): void {
    if (mode !== state.mode) change({ mode })
  },
  /** Data that was read before a loss does not end it: the server sends what it has to a new stream. */
  answered(readAt = serverNow()): void {
    const wasAway = state.away !== null
    const lastAt = Math.max(state.lastAt ?? 0, readAt)
    if (state.away !== null && readAt < state.away.since) return change({ lastAt })
    change({ away: null, lastAt })
    if (wasAway) for (const listener of returned) listener()
  },
  /** The earliest report names the time; later ones of the same loss only refresh the reason. */
  lost(what: Away['what'], why: string, since: string | null): void {
    if (state.away?.what === what && state.away.why === why) return
    const known = state.away?.what === what ? state.away.since : Number.POSITIVE_INFINITY
    const at = since === null ? Math.min(known, serverNow()) : Math.min(known, Date.parse(since))
    change({ away: { what, why, since: at } })
  },
  /** The first report of a loss names its time. */
  becameOld(key: string, { name, why, since }: { name: string; why: string; since: string | null }): void {
    const known = state.old.get(key)
    if (known?.why === why) return
    const at = since === null ? (known?.since ?? serverNow()) : Date.parse(since)
    change({ old: new Map([...state.old, [key, { name, why, since: at }]]) })
  },
  /** Another page asks for other paths. */
  leftPage(): void {
    const old = [...state.old].filter(([key]) => !key.startsWith('/'))
    if (old.length < state.old.size) change({ old: new Map(old) })
  },
  /** Without a key: a new stream has begun, which reports again what is old. */
  becameFresh(key?: string): void {
    const old = [...state.old].filter(([one]) => (key === undefined ? one.startsWith('/') : one !== key))
    if (old.length < state.old.size) change({ old: new Map(old) })
  },
  signedOut(): void {
    if (!state.isSignedOut) change({ isSignedOut: true })
  },
  signedIn(): void {
    change({ isSignedOut: false, away: null })
  },
  toggleFrozen(): void {
    change({ frozenAt: state.frozenAt === null ? serverNow() : null })
    if (state.frozenAt === null) for (const listener of returned) listener()
  },
}

/** A part of the state: a component that reads it is not drawn again with every answer. */
export function useConnectionPart<Key extends keyof ConnectionState>(key: Key): ConnectionState[Key] {
  return useSyncExternalStore(connection.subscribe, () => state[key])
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(connection.subscribe, connection.get)
}

function change(part: Partial<ConnectionState>): void {
  state = { ...state, ...part }
  for (const listener of listeners) listener()
}
