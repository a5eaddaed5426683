/**
 * The name of a test database contains its owner, so that a later test run can find orphaned databases without a registry:
 * `q_test_<host>_<pid>_<random>`.
 *
 * A reused process id only keeps an orphaned database a little longer. Databases of other hosts are never dropped.
 */
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

export const databasePrefix = 'q_test_'

const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

export function newDatabaseName(): string {
  return `${databasePrefix}${host}_${process.pid}_${randomBytes(6).toString('hex')}`
}

export function isOrphaned(name: string): boolean {
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
