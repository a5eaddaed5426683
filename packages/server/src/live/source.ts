/**
 * A topic of the live stream: what is looked at, and what a viewer that has seen a revision lacks. Frames are made when they
 * are written, so a slow viewer skips what it missed: the latest wins.
 */
import type { Frames } from '../api/events.ts'
import type { Sent } from '../http/route-call.ts'

export type OutFrame = {
  [Name in keyof Frames]: { readonly event: Name; readonly data: Sent<Frames[Name]> }
}[keyof Frames]

/** What one viewer follows in addition to the topics that are the same for all. */
export interface Following {
  readonly runs: readonly string[]
}

export interface Source {
  /** The name in `old` frames. */
  readonly name: string
  readonly everyMs: number
  /** Looks once, for all viewers. Changed items get the revision; returns whether any has changed. */
  look(revision: number, viewers: Iterable<Following>): Promise<boolean>
  /** The changes for a viewer that has seen everything up to the revision; 0: it has seen nothing. */
  framesSince(revision: number, viewer: Following): OutFrame[]
}
