/**
 * Finds where in the user's own code an error happened: the first frame of its stack trace that is neither in Node, nor in
 * an installed package, nor in our code of the worker thread or of `task()`.
 */
import { fileURLToPath, pathToFileURL } from 'node:url'

const place = /(?:^|[\s(])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*?:\d+(?::\d+)?)\)?$/
const ownCode = [new URL('./thread/', import.meta.url), new URL('.', import.meta.resolve('@q/task'))].map((folder) =>
  fileURLToPath(folder),
)

/** Returns `file:line:column`, or `file:line` for a syntax error; undefined if the trace has no such frame. */
export function ownFrame(stack: string): string | undefined {
  const lines = stack.split('\n')
  // The first line of a syntax error is its location.
  const places = lines.filter((line, index) => index === 0 || /^\s+at /.test(line)).map((line) => place.exec(line)?.[1])
  const own = places.find((found) => found !== undefined && !isForeign(found))
  return own === undefined ? undefined : displayPath(own)
}

function isForeign(found: string): boolean {
  const path = pathOf(found)
  return path.includes('/node_modules/') || ownCode.some((folder) => path.startsWith(folder))
}

/** The path relative to the working directory, if it is below it. */
export function displayPath(urlOrPath: string): string {
  const here = `${pathOf(pathToFileURL(process.cwd()).href)}/`
  const path = pathOf(urlOrPath)
  return path.startsWith(here) ? path.slice(here.length) : path
}

function pathOf(urlOrPath: string): string {
  return urlOrPath.startsWith('file://') ? decodeURIComponent(urlOrPath.slice('file://'.length)) : urlOrPath
}
