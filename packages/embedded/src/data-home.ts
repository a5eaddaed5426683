/**
 * Where the data lives, and as whom.
 *
 * A directory that the caller names is used or refused, never replaced. Without a name it is `.q/postgres` in the
 * workspace; only root, whose database user may be unable to enter the clone, is given a place outside it, which is
 * derived from the workspace's path so that every later start finds it again. Data that exists is never left behind
 * for an empty directory because permissions changed meanwhile.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { checkDataDir, type DataHome, makeDataDir } from './data-dir.ts'
import { canEnter, databaseUserFor } from './database-user.ts'
import { workspaceRoot } from './workspace-root.ts'

/** Root's own place for what cannot be in the clone. */
export const OUTSIDE_DIR = '/var/lib/q'

export async function findDataHome(asked: string | undefined, notice: (said: string) => void): Promise<DataHome> {
  const dataDir = asked === undefined ? await defaultDir(notice) : resolve(asked)
  const clusterDir = clusterIn(dataDir)
  await makeDataDir(dataDir)
  const user = await databaseUserFor(clusterDir)
  await checkDataDir({ dataDir, clusterDir, user })
  if (asked === undefined && dataDir.endsWith(INSIDE)) await keepOutOfGit(dataDir)
  return { dataDir, clusterDir, user }
}

const INSIDE = join('.q', 'postgres')

async function defaultDir(notice: (said: string) => void): Promise<string> {
  const root = await realpath(workspaceRoot(process.cwd()))
  const inside = join(root, INSIDE)
  if (process.getuid?.() !== 0 || existsSync(clusterIn(inside))) return inside

  const key = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const outside = join(OUTSIDE_DIR, `${basename(root) || 'root'}-${key}`)
  const user = await databaseUserFor(clusterIn(outside))
  if (!existsSync(clusterIn(outside)) && (await canEnter(user, nearestExisting(inside)))) return inside
  notice(`The database is kept in ${outside}, because its user ${user.name} cannot enter ${root}.`)
  return outside
}

function clusterIn(dataDir: string): string {
  return join(dataDir, 'cluster')
}

function nearestExisting(dir: string): string {
  return existsSync(dir) ? dir : nearestExisting(dirname(dir))
}

/** The password lies in there: a clone without our .gitignore must not offer it for a commit. */
async function keepOutOfGit(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined)
}
