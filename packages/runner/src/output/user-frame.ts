/**
 * Finds where in the user's own code an error happened: the first frame of its stack trace that is neither in Node, nor in
 * an installed package, nor in our code of the worker thread or of `task()`.
 */
import { fileURLToPath, pathToFileURL } from 'node:url'

const place = /(?:^|[\s(])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*?:\d+(?::\d+)?)\)?$/
const ownCode = [new URL('../thread/', import.meta.url), new URL('.', import.meta.resolve('@q/task'))].map((folder) =>
  fileURLToPath(folder),
)

/** Returns `file:line:column`, or `file:line` for a syntax error; undefined if the trace has no such frame. */
export function userFrame(stack: string): string | undefined {
  const own = ownFrame(stack)
  return own === undefined ? undefined : displayPath(own.place)
}

/** The same frame as `function (file)`, or `file`: equal for all errors of one place, also after lines were added above it. */
export function userFunction(stack: string): string | undefined {
  const own = ownFrame(stack)
  if (own === undefined) return undefined
  const file = displayPath(own.place).replace(/(?::\d+){1,2}$/, '')
  const name = /^\s+at (?:async )?(?:new )?([^(]+?) \(/.exec(own.line)?.[1]
  return name === undefined ? file : `${name} (${file})`
}

function ownFrame(stack: string): { readonly line: string; readonly place: string } | undefined {
  for (const [index, line] of stack.split('\n').entries()) {
    // The first line of a syntax error is its location.
    const found = index === 0 || /^\s+at /.test(line) ? place.exec(line)?.[1] : undefined
    if (found !== undefined && !isForeign(found)) return { line, place: found }
  }
  return undefined
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
