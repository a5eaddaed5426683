import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from './run.ts'

/** Only by npm, as most users would; nothing of the workspace is in reach of that folder. */
export async function installPacked(folder: string, tarballs: readonly string[]): Promise<void> {
  const manifest = { name: 'consumer', version: '1.0.0', private: true, type: 'module' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  await run('npm', ['install', ...quiet, ...tarballs.map((path) => `./${basename(path)}`)], folder)
}
