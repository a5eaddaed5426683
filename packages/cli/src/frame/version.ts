/** The version of this program. */
import { readFileSync } from 'node:fs'
import { programLevel } from '@q/schema'

export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String(Reflect.get(JSON.parse(text) as object, 'version'))
}

export interface VersionDocument {
  readonly version: string
  /** The number of the newest migration that this program knows. */
  readonly schemaVersion: number
}

export async function versionDocument(): Promise<VersionDocument> {
  return { version: programVersion(), schemaVersion: await programLevel() }
}
