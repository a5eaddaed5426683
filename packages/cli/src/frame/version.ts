/** The version of this program. */
import { readFileSync } from 'node:fs'

export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String(Reflect.get(JSON.parse(text) as object, 'version'))
}
