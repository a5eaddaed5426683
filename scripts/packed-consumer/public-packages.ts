import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { workspace } from '../workspace.ts'

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Record<string, Record<string, string> | string>
  readonly bin?: Record<string, string>
}

export interface PublicPackage {
  readonly folder: string
  readonly manifest: Manifest
}

export async function publicPackages(): Promise<PublicPackage[]> {
  const found: PublicPackage[] = []
  for await (const path of glob('packages/*/package.json', { cwd: workspace })) {
    const manifest = JSON.parse(await readFile(join(workspace, path), 'utf8')) as Manifest
    if (manifest.private !== true) found.push({ folder: join(workspace, dirname(path)), manifest })
  }
  return found.toSorted((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1))
}
