/**
 * Where in the user's own code an error happened: the first place of its stack trace that is neither in Node, nor in an
 * installed package, nor in the code of a worker thread around the task.
 */
import { fileURLToPath, pathToFileURL } from 'node:url'

const place = /(?:^|[\s(])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*?:\d+(?::\d+)?)\)?$/
const ownCode = fileURLToPath(new URL('./thread/', import.meta.url))

/** `file:line:column`, or `file:line` of code that cannot be read; undefined: the trace names no such place. */
export function ownFrame(stack: string): string | undefined {
  const lines = stack.split('\n')
  // Of a syntax error, the first line is the place.
  const places = lines.filter((line, index) => index === 0 || /^\s+at /.test(line)).map((line) => place.exec(line)?.[1])
  const own = places.find((found) => found !== undefined && !isForeign(found))
  return own === undefined ? undefined : shownPath(own)
}

function isForeign(found: string): boolean {
  const path = pathOf(found)
  return path.includes('/node_modules/') || path.startsWith(ownCode)
}

/** The path from here, where that is shorter. */
export function shownPath(urlOrPath: string): string {
  const here = `${pathOf(pathToFileURL(process.cwd()).href)}/`
  const path = pathOf(urlOrPath)
  return path.startsWith(here) ? path.slice(here.length) : path
}

function pathOf(urlOrPath: string): string {
  return urlOrPath.startsWith('file://') ? decodeURIComponent(urlOrPath.slice('file://'.length)) : urlOrPath
}
