import { defineConfig } from 'vitest/config'

/** One project per package. Every test file has a database of its own, cloned from one migrated template. */
const packages = ['schema', 'store', 'task', 'client', 'runner', 'embedded', 'testing', 'cli', 'workspace']

export default defineConfig({
  test: {
    projects: packages.map((name) => ({
      resolve: { conditions: ['@q/source'] },
      ssr: { resolve: { conditions: ['@q/source'] } },
      test: {
        name,
        include: [name === 'workspace' ? 'scripts/test/**/*.test.ts' : `packages/${name}/test/**/*.test.ts`],
        globalSetup: ['scripts/test/test-server.ts'],
        pool: 'forks',
        execArgv: ['--conditions=@q/source'],
        testTimeout: 60_000,
        hookTimeout: 60_000,
      },
    })),
  },
})
