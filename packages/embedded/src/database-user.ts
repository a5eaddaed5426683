import { access, constants, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type ProcessIdentity, runProgram } from './run-program.ts'

/**
 * The user that PostgreSQL runs as.
 *
 * PostgreSQL refuses to run as root, so for root it is the owner of the existing data, else `postgres`, else `nobody`. Every
 * other user runs it under their own account.
 */
export interface DatabaseUser extends ProcessIdentity {
  readonly name: string
  /** Set only for root: the identity that every program of PostgreSQL is started with. */
  readonly become: ProcessIdentity | undefined
}

const enterMsMax = 10_000
const unprivilegedId = 65_534

export async function databaseUserFor(clusterDir: string): Promise<DatabaseUser> {
  const self = { uid: process.getuid?.() ?? unprivilegedId, gid: process.getgid?.() ?? unprivilegedId }
  const accounts = await readAccounts()
  if (self.uid !== 0) return { ...self, name: nameOf(accounts, self.uid), become: undefined }

  const owner = await stat(clusterDir).catch(() => undefined)
  const account =
    owner !== undefined && owner.uid !== 0
      ? { uid: owner.uid, gid: owner.gid }
      : (accounts.get('postgres') ?? accounts.get('nobody') ?? { uid: unprivilegedId, gid: unprivilegedId })
  const { uid, gid } = account
  return { uid, gid, name: nameOf(accounts, uid), become: { uid, gid } }
}

/** Tests access by trying: modes, groups, access lists and mounts all matter. */
export async function canEnter(user: DatabaseUser, dir: string): Promise<boolean> {
  if (user.become === undefined) {
    return access(dir, constants.X_OK).then(
      () => true,
      () => false,
    )
  }
  const args = ['-c', 'cd -- "$1"', 'sh', dir]
  const ran = await runProgram('/bin/sh', args, { become: user.become, timeoutMs: enterMsMax })
  return ran.code === 0
}

/** The outermost directory on the way to `dir` that this user cannot enter: the one whose mode has to change. */
export async function firstInaccessibleDir(user: DatabaseUser, dir: string): Promise<string | undefined> {
  const way = [dir]
  while (dirname(way[0] ?? '/') !== way[0]) way.unshift(dirname(way[0] ?? '/'))
  for (const step of way) if (!(await canEnter(user, step))) return step
  return undefined
}

async function readAccounts(): Promise<Map<string, ProcessIdentity>> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const fields = lines.map((line) => line.split(':')).filter((entry) => entry.length >= 4)
  return new Map(fields.map(([name, , uid, gid]) => [name ?? '', { uid: Number(uid), gid: Number(gid) }]))
}

function nameOf(accounts: Map<string, ProcessIdentity>, uid: number): string {
  for (const [name, account] of accounts) if (account.uid === uid) return name
  return `uid ${uid}`
}
