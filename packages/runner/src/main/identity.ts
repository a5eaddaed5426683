/** The id of this replica, its host and its process. */
import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'

export interface Host {
  readonly hostname: string
  readonly pid: number
}

export function thisHost(): Host {
  return { hostname: hostname(), pid: process.pid }
}

const idAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A new id for each start, so that a restarted process is never confused with the one that died. */
export function newReplicaId(): string {
  return Array.from({ length: 12 }, () => idAlphabet[randomInt(idAlphabet.length)]).join('')
}
