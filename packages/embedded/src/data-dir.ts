/**
 * Checks that a data directory can be used; otherwise throws an error that explains the problem.
 *
 * It never touches other files: a directory that has files but no cluster is rejected.
 */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { canEnter, type DatabaseUser, firstInaccessibleDir } from './database-user.ts'
import { errnoOf, explainDiskErrors } from './disk-errors.ts'
import { EmbeddedError } from './embedded-error.ts'

export interface DataHome {
  readonly dataDir: string
  /** Created complete by one rename: data, password, log. */
  readonly clusterDir: string
  readonly user: DatabaseUser
}

/** Entries that may exist in a directory that has no cluster yet. */
const ignoredFiles = /^(\.gitignore|lost\+found|programs-.*|cluster\.part-.*)$/

export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    const first = await mkdir(dataDir, { recursive: true })
    if (first !== undefined && process.getuid?.() === 0) await openForOthers(first, dataDir)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && (await stat(dataDir)).isDirectory()) return
    throw explainDiskErrors(error, dataDir)
  }
}

export async function checkDataDir({ dataDir, clusterDir, user }: DataHome): Promise<void> {
  if (!(await canEnter(user, dataDir))) throw await notEnterable(user, dataDir)
  const cluster = await stat(clusterDir).catch(() => undefined)
  if (cluster === undefined) return refuseOtherFiles(dataDir)
  if (cluster.uid !== user.uid)
    throw foreign(dataDir, `${clusterDir} belongs to uid ${cluster.uid}, not to ${user.name}.`)
  const version = await stat(join(clusterDir, 'data', 'PG_VERSION')).catch(() => undefined)
  if (version === undefined) throw notACluster(dataDir, `${basename(clusterDir)}/data/PG_VERSION is missing.`)
}

export function foreign(dataDir: string, why: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError({
    code: 'DATA_DIR_FOREIGN',
    what: `The database in ${dataDir} belongs to another user or server.`,
    why,
    fix: 'Run as the user who created it, or choose another data directory.',
    cause,
  })
}

/** Root's umask may be 077, but the database user must be able to enter these directories. */
async function openForOthers(first: string, last: string): Promise<void> {
  for (let dir = last; dir.length >= first.length; dir = dirname(dir)) await chmod(dir, 0o755)
}

async function refuseOtherFiles(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: unknown) => {
    throw explainDiskErrors(error, dataDir)
  })
  const other = names.filter((name) => !ignoredFiles.test(name))
  if (other.length > 0) throw notACluster(dataDir, `It holds other files, among them ${other.slice(0, 3).join(', ')}.`)
}

function notACluster(dataDir: string, why: string): EmbeddedError {
  return new EmbeddedError({
    code: 'DATA_DIR_NOT_A_CLUSTER',
    what: `${dataDir} is not an embedded database of q; nothing in it was changed.`,
    why,
    fix: 'Choose an empty or new directory as data directory.',
  })
}

async function notEnterable(user: DatabaseUser, dataDir: string): Promise<EmbeddedError> {
  const door = (await firstInaccessibleDir(user, dataDir)) ?? dataDir
  return new EmbeddedError({
    code: 'DATA_DIR_NOT_ENTERABLE',
    what: `The database user ${user.name} cannot enter ${dataDir}.`,
    why: `PostgreSQL runs as ${user.name}, which has no permission to enter ${door}.`,
    fix: `Allow it (chmod o+x ${door}), or choose another data directory.`,
  })
}
