/** A rule about the sources, with its reason. */
import type { Find } from './finds.ts'

export interface Rule {
  readonly rule: string
  readonly reason: string
  readonly find: Find
}
