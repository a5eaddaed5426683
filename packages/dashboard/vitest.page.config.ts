/** `pnpm test:page`: the tests of the page that take minutes, one file at a time. */
import { defineConfig } from 'vitest/config'
import { fileURLToPath } from 'node:url'

const source = { resolve: { conditions: ['@q/source'] } }

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  environments: { __vitest__: source },
  ...source,
  ssr: source,
  test: {
    globalSetup: ['scripts/test/test-server.ts'],
    include: ['packages/dashboard/test/page/*.page.ts'],
    pool: 'forks',
    maxWorkers: 1,
    execArgv: ['--conditions=@q/source'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 50 } },
  },
})
