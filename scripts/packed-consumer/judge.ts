/** Checks what a published package must and must not contain. Each fault is one line that names the package. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { workspace } from '../workspace.ts'
import type { Manifest, PublicPackage } from './public-packages.ts'

/** By their path inside the package. */
const unwanted: [path: RegExp, what: string][] = [
  [/(^|\/)tests?\/|\.test\./, 'a test'],
  [/(?<!\.d)\.[cm]?tsx?$/, 'a source: Node refuses TypeScript below node_modules'],
  [/\.tsbuildinfo$/, 'a note of the compiler'],
  [/(^|\/)\.q(\/|$)/, 'data of a local database'],
  [/(^|\/)\.env|\.npmrc$|\.pem$|\.key$|password/, 'something that looks like a secret'],
]

export async function faultsOf({ manifest }: PublicPackage, consumer: string): Promise<string[]> {
  const folder = join(consumer, 'node_modules', manifest.name)
  const faults: string[] = []
  for (const path of await filesBelow(folder)) {
    for (const [pattern, what] of unwanted) if (pattern.test(path)) faults.push(`ships ${path}: ${what}`)
    const text = await readFile(join(folder, path), 'utf8')
    if (text.includes(workspace)) faults.push(`${path} names a folder of the machine it was built on`)
  }
  faults.push(...(await faultsOfManifest(manifest, folder)))
  return faults.map((fault) => `${manifest.name}: ${fault}`)
}

async function faultsOfManifest(source: Manifest, folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'package.json'), 'utf8')
  const packed = JSON.parse(text) as Manifest
  const faults = ['"workspace:', '"catalog:', '"@q/source"']
    .filter((word) => text.includes(word))
    .map((word) => `its package.json still says ${word}`)
  const targets = [...Object.values(packed.exports ?? {}), packed.bin ?? {}].flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry),
  )
  for (const target of targets) {
    if (!(await isFile(join(folder, target))))
      faults.push(`its package.json promises ${target}, which it does not ship`)
  }
  // An entry whose file is not shipped is for the scripts of the workspace alone.
  for (const [entry, target] of Object.entries(source.exports ?? {})) {
    const file = typeof target === 'string' ? target : target['default']
    if (packed.exports?.[entry] === undefined && file !== undefined && (await isFile(join(folder, file))))
      faults.push(`publishConfig.exports lacks "${entry}"`)
  }
  return faults
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  return paths.filter((path) => !path.startsWith('node_modules'))
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
