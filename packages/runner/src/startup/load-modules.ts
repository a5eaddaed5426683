/**
 * Loads the many small files of a program with less than half of the CPU that Node takes otherwise.
 * - What Node compiles (source without its types, V8's code) is kept in `node_modules/.cache/q` of the workspace or project.
 *   Node checks each entry against its source. Threads and child processes use it too. `NODE_COMPILE_CACHE` names another
 *   directory and `NODE_DISABLE_COMPILE_CACHE=1` switches it off; where it cannot be written, every start compiles.
 * - A relative import of a file is resolved by its URL alone. Node would look for links in each part of its path. This
 *   applies until the modules are loaded, and never to tasks.
 */
import { enableCompileCache, registerHooks, type ResolveHookSync } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export async function loadModules<T>(load: () => Promise<T>): Promise<T> {
  keepCompiled()
  const hooks = registerHooks({ resolve: resolveByUrl })
  try {
    return await load()
  } finally {
    hooks.deregister()
  }
}

function keepCompiled(): void {
  if (process.env['NODE_COMPILE_CACHE']) return // Node has read it
  const cache = cacheBeside(fileURLToPath(import.meta.url))
  if (cache === undefined || enableCompileCache(cache).directory === undefined) return
  process.env['NODE_COMPILE_CACHE'] = cache
}

/**
 * In the outermost `node_modules` that contains the file; in the workspace, in that of its root. Undefined: the file is in
 * neither, for example in a bundle.
 */
export function cacheBeside(file: string): string | undefined {
  const modules = `${sep}node_modules${sep}`
  const installed = file.indexOf(modules)
  const rootChars = installed === -1 ? file.lastIndexOf(`${sep}packages${sep}`) : installed
  return rootChars === -1 ? undefined : `${file.slice(0, rootChars)}${modules}.cache${sep}q`
}

const relativeFile = /^\.{1,2}\/.*\.(ts|js)$/

const resolveByUrl: ResolveHookSync = (specifier, context, next) => {
  const isImported = relativeFile.test(specifier) && context.conditions.includes('import')
  if (!isImported || context.parentURL === undefined) return next(specifier, context)
  return { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
}
