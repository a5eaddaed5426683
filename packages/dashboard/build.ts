/** Builds the page: `node build.ts`, or `buildPage()` from a program that serves it. */
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import config from './vite.config.ts'

export async function buildPage({ outDir }: { readonly outDir?: string } = {}): Promise<void> {
  await build({
    ...config,
    configFile: false,
    logLevel: 'warn',
    build: { ...config.build, ...(outDir === undefined ? {} : { outDir }) },
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPage()
