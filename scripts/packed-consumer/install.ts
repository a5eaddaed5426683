import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { workspace } from '../workspace.ts'
import { run } from './run.ts'

/** Only by npm, as most users would; nothing of the workspace is in reach of that folder. `others`: as we have them. */
export async function installPacked(
  folder: string,
  tarballs: readonly string[],
  others: readonly string[],
): Promise<void> {
  const manifest = { name: 'consumer', version: '1.0.0', private: true, type: 'module' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  const packed = tarballs.map((path) => `./${basename(path)}`)
  await run('npm', ['install', ...quiet, ...packed, ...(await Promise.all(others.map(pinned)))], folder)
}

async function pinned(name: string): Promise<string> {
  const manifest = await readFile(join(workspace, 'node_modules', name, 'package.json'), 'utf8')
  return `${name}@${(JSON.parse(manifest) as { version: string }).version}`
}
