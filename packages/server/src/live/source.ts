/**
 * A source of a live topic: it reads the data, and returns the changes since a revision that a viewer has seen. Frames
 * are built when they are written, so a slow viewer skips intermediate states.
 */
import type { Frames } from '../api/events.ts'
import type { Sent } from '../http/route-call.ts'

export type OutFrame = {
  [Name in keyof Frames]: { readonly event: Name; readonly data: Sent<Frames[Name]> }
}[keyof Frames]

/** The subjects that one viewer follows in addition to the common topics. */
export interface Following {
  readonly runs: readonly string[]
}

export interface Source {
  /** The name in `old` frames. */
  readonly name: string
  /** The log, workflow or operation in `old` frames. */
  readonly id?: string
  readonly everyMs: number
  /** Reads once, for all viewers. Changed items get the revision; returns whether any has changed. */
  look(revision: number, viewers: Iterable<Following>): Promise<boolean>
  /** Returns the changes since the revision; 0: everything. */
  framesSince(revision: number, viewer: Following): OutFrame[]
}
