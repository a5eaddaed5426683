/**
 * A data directory is fit for use, or there is an error that says what is wrong with it.
 *
 * Files that are not ours are never touched: a directory that holds anything else and no cluster is refused.
 */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { canEnter, type DatabaseUser, firstClosedDoor } from './database-user.ts'
import { errnoOf, sayDiskTrouble } from './disk-trouble.ts'
import { EmbeddedError } from './embedded-error.ts'

export interface DataHome {
  readonly dataDir: string
  /** Appears in one rename, complete: data, password, log. */
  readonly clusterDir: string
  readonly user: DatabaseUser
}

/** What may lie in a directory that is still ours to fill. */
const HARMLESS = /^(\.gitignore|lost\+found|programs-.*|cluster\.part-.*)$/

export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    const first = await mkdir(dataDir, { recursive: true })
    if (first !== undefined && process.getuid?.() === 0) await openForOthers(first, dataDir)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && (await stat(dataDir)).isDirectory()) return
    throw sayDiskTrouble(error, dataDir)
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
    what: `The database in ${dataDir} is not ours to use.`,
    why,
    fix: 'Run as the user who created it, or choose another data directory.',
    cause,
  })
}

/** Root's umask may be 077, and the database user has to walk through what we make. */
async function openForOthers(first: string, last: string): Promise<void> {
  for (let dir = last; dir.length >= first.length; dir = dirname(dir)) await chmod(dir, 0o755)
}

async function refuseOtherFiles(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: unknown) => {
    throw sayDiskTrouble(error, dataDir)
  })
  const other = names.filter((name) => !HARMLESS.test(name))
  if (other.length > 0) throw notACluster(dataDir, `It holds other files, among them ${other.slice(0, 3).join(', ')}.`)
}

function notACluster(dataDir: string, why: string): EmbeddedError {
  return new EmbeddedError({
    code: 'DATA_DIR_NOT_A_CLUSTER',
    what: `${dataDir} is not a database of ours, and nothing in it was touched.`,
    why,
    fix: 'Choose an empty or new directory as data directory.',
  })
}

async function notEnterable(user: DatabaseUser, dataDir: string): Promise<EmbeddedError> {
  const door = (await firstClosedDoor(user, dataDir)) ?? dataDir
  return new EmbeddedError({
    code: 'DATA_DIR_NOT_ENTERABLE',
    what: `The database user ${user.name} cannot enter ${dataDir}.`,
    why: `PostgreSQL runs as ${user.name}, and ${door} is closed to that user.`,
    fix: `Open it (chmod o+x ${door}), or choose a data directory elsewhere.`,
  })
}
