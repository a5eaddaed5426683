/** Who this replica is, and where. */
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

/** New on every boot: a process that died and one that starts in its place are never mistaken for each other. */
export function newReplicaId(): string {
  return Array.from({ length: 12 }, () => idAlphabet[randomInt(idAlphabet.length)]).join('')
}
