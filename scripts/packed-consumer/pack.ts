/** Every public package, built and packed. */
import { access, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { workspace } from '../workspace.ts'
import type { Manifest, PublicPackage } from './public-packages.ts'
import { run } from './run.ts'

/** Writes one tarball per package into the folder and returns their paths. */
export async function packAll(packages: readonly PublicPackage[], into: string): Promise<string[]> {
  await buildAfresh(packages)
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  await pnpm([...filters, 'pack', '--pack-destination', into])
  const tarballs = packages.map(({ manifest }) => join(into, tarballName(manifest)))
  await Promise.all(tarballs.map((path) => access(path)))
  return tarballs
}

/** Removes earlier builds first: otherwise the output of a deleted file would be packed too. */
async function buildAfresh(packages: readonly PublicPackage[]): Promise<void> {
  for (const { folder } of packages) await rm(join(folder, 'dist'), { recursive: true, force: true })
  await run(join(workspace, 'node_modules/.bin/tsc'), ['-b'], workspace)
  await run(process.execPath, ['scripts/ship-migrations.ts'], workspace)
}

/** As npm and pnpm name it: `@q/client` becomes `q-client-0.1.0.tgz`. */
function tarballName({ name, version }: Manifest): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** The pnpm that runs us; it may be a script or a program. */
async function pnpm(args: string[]): Promise<void> {
  const path = process.env['npm_execpath']
  if (path === undefined || !path.includes('pnpm')) await run('npx', ['--yes', 'pnpm@12', ...args], workspace)
  else if (/^\.[cm]?js$/.test(extname(path))) await run(process.execPath, [path, ...args], workspace)
  else await run(path, args, workspace)
}
