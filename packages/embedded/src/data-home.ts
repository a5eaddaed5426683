/**
 * Decides where the data is stored and which user owns it.
 *
 * A directory named by the caller is used or rejected, never replaced. The default is `.q/postgres` in the workspace. Only
 * root, whose database user may be unable to enter the clone, may get a directory outside; it is derived from the path of the
 * workspace, so later starts find it. Existing data is never abandoned for an empty directory because permissions changed.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { checkDataDir, type DataHome, makeDataDir } from './data-dir.ts'
import { canEnter, databaseUserFor } from './database-user.ts'
import { workspaceRoot } from './workspace-root.ts'

/** Root's directory for data that cannot be in the clone. */
export const outsideDir = '/var/lib/q'

export async function findDataHome(asked: string | undefined, notice: (said: string) => void): Promise<DataHome> {
  const dataDir = asked === undefined ? await defaultDir(notice) : resolve(asked)
  const clusterDir = clusterIn(dataDir)
  await makeDataDir(dataDir)
  const user = await databaseUserFor(clusterDir)
  await checkDataDir({ dataDir, clusterDir, user })
  if (asked === undefined && dataDir.endsWith(insideDir)) await keepOutOfGit(dataDir)
  return { dataDir, clusterDir, user }
}

const insideDir = join('.q', 'postgres')

async function defaultDir(notice: (said: string) => void): Promise<string> {
  const root = await realpath(workspaceRoot(process.cwd()))
  const inside = join(root, insideDir)
  if (process.getuid?.() !== 0 || existsSync(clusterIn(inside))) return inside

  const key = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const outside = join(outsideDir, `${basename(root) || 'root'}-${key}`)
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

/** The directory contains the password, so it gets a .gitignore of its own. */
async function keepOutOfGit(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined)
}
