/**
 * A copy of the programs, for when the database user cannot reach them in node_modules (a clone in a closed home) or
 * their library links cannot be made there (a read-only install). One copy per version, shared by all workspaces.
 */
import { chmod, cp, mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { DataHome } from './data-dir.ts'
import { OUTSIDE_DIR } from './data-home.ts'
import { sayDiskTrouble } from './disk-trouble.ts'
import { placeOnce, removeLeftovers } from './place-once.ts'

export async function copyPrograms(native: string, home: DataHome): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const parent = await placeForCopies(home)
  const copy = join(parent, `programs-${version}-${process.platform}-${process.arch}`)
  try {
    await removeLeftovers(copy)
    await placeOnce(copy, async (part) => {
      await cp(native, part, { recursive: true, verbatimSymlinks: true })
      await openForOthers(part)
    })
  } catch (error) {
    throw sayDiskTrouble(error, parent)
  }
  return copy
}

/** Root's place outside, a user's cache, or, without a home, beside the data. */
async function placeForCopies(home: DataHome): Promise<string> {
  const asRoot = home.user.become !== undefined
  const wish = asRoot ? OUTSIDE_DIR : join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'q')
  try {
    await mkdir(wish, { recursive: true, mode: 0o755 })
    if (asRoot) await chmod(wish, 0o755)
    return wish
  } catch {
    return home.dataDir
  }
}

/** An install under umask 077 gives nobody else anything to read. */
async function openForOthers(root: string): Promise<void> {
  await chmod(root, 0o755)
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const { mode } = await stat(path)
    await chmod(path, mode & 0o100 ? 0o755 : 0o644)
  }
}
