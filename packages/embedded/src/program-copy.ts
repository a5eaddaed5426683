/**
 * A copy of the programs, used if the database user cannot read them in node_modules (a clone in a private home) or the
 * library links cannot be created there (a read-only install). One copy per version, shared by all workspaces.
 */
import { chmod, cp, mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { DataHome } from './data-dir.ts'
import { outsideDir } from './data-home.ts'
import { explainDiskErrors } from './disk-errors.ts'
import { createDirectoryOnce, removeLeftovers } from './atomic-directory.ts'

export async function copyPrograms(native: string, home: DataHome): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const parent = await placeForCopies(home)
  const copy = join(parent, `programs-${version}-${process.platform}-${process.arch}`)
  try {
    await removeLeftovers(copy)
    await createDirectoryOnce(copy, async (part) => {
      await cp(native, part, { recursive: true, verbatimSymlinks: true })
      await openForOthers(part)
    })
  } catch (error) {
    throw explainDiskErrors(error, parent)
  }
  return copy
}

/** Root's directory outside the clone, a user's cache, or, without a home, a directory next to the data. */
async function placeForCopies(home: DataHome): Promise<string> {
  const asRoot = home.user.become !== undefined
  const dir = asRoot ? outsideDir : join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'q')
  try {
    await mkdir(dir, { recursive: true, mode: 0o755 })
    if (asRoot) await chmod(dir, 0o755)
    return dir
  } catch {
    return home.dataDir
  }
}

/** Adds read permission: an install under umask 077 is readable by its owner only. */
async function openForOthers(root: string): Promise<void> {
  await chmod(root, 0o755)
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const { mode } = await stat(path)
    await chmod(path, mode & 0o100 ? 0o755 : 0o644)
  }
}
