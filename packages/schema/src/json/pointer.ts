/** JSON pointers (RFC 6901) for people and logs: bounded, and without characters that harm a database or terminal. */
import { storableText } from './text.ts'

export type Path = readonly (string | number)[]

const charsMax = 300

export function pointerOf(path: Path): string {
  const pointer = path.map((key) => `/${typeof key === 'number' ? key : partOf(key)}`).join('')
  return pointer.length <= charsMax ? pointer : `${pointer.slice(0, charsMax).toWellFormed()}…`
}

function partOf(key: string): string {
  return storableText(key.slice(0, charsMax + 1))
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replaceAll(/\p{Cc}/gu, '\uFFFD')
}
