/**
 * Whose a test database is, written in its name, so that any later run can tell the living from the dead without a
 * register: `q_test_<host>_<pid>_<random>`.
 *
 * A reused process id keeps a left-over alive a little longer, never the other way round. Databases of other hosts are
 * not judged.
 */
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

export const prefix = 'q_test_'

const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

export function ownName(): string {
  return `${prefix}${host}_${process.pid}_${randomBytes(6).toString('hex')}`
}

export function isOfTheDead(name: string): boolean {
  const owner = /^q_test_([0-9a-f]{8})_(\d+)_[0-9a-f]+$/.exec(name)
  return owner !== null && owner[1] === host && !isAlive(Number(owner[2]))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM' // alive, but another user's
  }
}
