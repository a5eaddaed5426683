/** Checks out a commit of this repository into a folder outside of the workspace, and installs its dependencies. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../packed-consumer/run.ts'
import { workspace } from '../workspace.ts'

export interface CheckedOutRelease extends AsyncDisposable {
  readonly folder: string
}

export async function checkOut(commit: string): Promise<CheckedOutRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'q-previous-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const archive = join(folder, 'release.tar')
    await run('git', ['archive', '--output', archive, commit], workspace)
    await run('tar', ['-xf', archive], folder)
    await run('npx', ['--yes', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'], folder)
    return { folder, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
