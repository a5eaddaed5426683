/** Builds the page: `node build.ts`, or `buildPage()` from a program that serves it. */
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import config from './vite.config.ts'

export async function buildPage({ outDir }: { readonly outDir?: string } = {}): Promise<void> {
  const before = process.env.NODE_ENV
  // Vite builds for development in a process that has another value here, such as a test.
  process.env.NODE_ENV = 'production'
  try {
    await build({
      ...config,
      configFile: false,
      logLevel: 'warn',
      build: { ...config.build, ...(outDir === undefined ? {} : { outDir }) },
    })
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPage()
