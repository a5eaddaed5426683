import { access, constants, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Identity, runProgram } from './run-program.ts'

/**
 * Who PostgreSQL runs as.
 *
 * It refuses to run as root, so root lends it another user: the owner of data that is already there, else `postgres`,
 * else `nobody`. Everybody else runs it as themselves.
 */
export interface DatabaseUser extends Identity {
  readonly name: string
  /** Set only for root: the identity that every program of PostgreSQL is started with. */
  readonly become: Identity | undefined
}

const ENTER_MS_MAX = 10_000
const NOBODY_ID = 65_534

export async function databaseUserFor(clusterDir: string): Promise<DatabaseUser> {
  const self = { uid: process.getuid?.() ?? NOBODY_ID, gid: process.getgid?.() ?? NOBODY_ID }
  const accounts = await readAccounts()
  if (self.uid !== 0) return { ...self, name: nameOf(accounts, self.uid), become: undefined }

  const owner = await stat(clusterDir).catch(() => undefined)
  const lent =
    owner !== undefined && owner.uid !== 0
      ? { uid: owner.uid, gid: owner.gid }
      : (accounts.get('postgres') ?? accounts.get('nobody') ?? { uid: NOBODY_ID, gid: NOBODY_ID })
  const { uid, gid } = lent
  return { uid, gid, name: nameOf(accounts, uid), become: { uid, gid } }
}

/** By really trying: modes, groups, access lists and mounts all have a say. */
export async function canEnter(user: DatabaseUser, dir: string): Promise<boolean> {
  if (user.become === undefined) {
    return access(dir, constants.X_OK).then(
      () => true,
      () => false,
    )
  }
  const args = ['-c', 'cd -- "$1"', 'sh', dir]
  const ran = await runProgram('/bin/sh', args, { become: user.become, timeoutMs: ENTER_MS_MAX })
  return ran.code === 0
}

/** The outermost directory on the way to `dir` that this user cannot enter: the one whose mode has to change. */
export async function firstClosedDoor(user: DatabaseUser, dir: string): Promise<string | undefined> {
  const way = [dir]
  while (dirname(way[0] ?? '/') !== way[0]) way.unshift(dirname(way[0] ?? '/'))
  for (const step of way) if (!(await canEnter(user, step))) return step
  return undefined
}

async function readAccounts(): Promise<Map<string, Identity>> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const fields = lines.map((line) => line.split(':')).filter((entry) => entry.length >= 4)
  return new Map(fields.map(([name, , uid, gid]) => [name ?? '', { uid: Number(uid), gid: Number(gid) }]))
}

function nameOf(accounts: Map<string, Identity>, uid: number): string {
  for (const [name, account] of accounts) if (account.uid === uid) return name
  return `uid ${uid}`
}
