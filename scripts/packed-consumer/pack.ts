import { readdir, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { workspace } from '../workspace.ts'
import type { PublicPackage } from './public-packages.ts'
import { run } from './run.ts'

/** From nothing: what an earlier build left of a file that is gone would be packed too. */
export async function buildAfresh(packages: readonly PublicPackage[]): Promise<void> {
  for (const { folder } of packages) await rm(join(folder, 'dist'), { recursive: true, force: true })
  await run(join(workspace, 'node_modules/.bin/tsc'), ['-b'], workspace)
  await run(process.execPath, ['scripts/ship-migrations.ts'], workspace)
}

/** Returns the paths of the tarballs. */
export async function pack(packages: readonly PublicPackage[], into: string): Promise<string[]> {
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  await pnpm([...filters, 'pack', '--pack-destination', into])
  const tarballs = (await readdir(into)).filter((name) => name.endsWith('.tgz')).map((name) => join(into, name))
  if (tarballs.length === packages.length) return tarballs
  throw new Error(`${packages.length} packages gave ${tarballs.length} tarballs`)
}

/** The pnpm that runs us; it may be a script or a program. */
async function pnpm(args: string[]): Promise<void> {
  const path = process.env['npm_execpath']
  if (path === undefined || !path.includes('pnpm')) await run('npx', ['--yes', 'pnpm@12', ...args], workspace)
  else if (/^\.[cm]?js$/.test(extname(path))) await run(process.execPath, [path, ...args], workspace)
  else await run(path, args, workspace)
}
