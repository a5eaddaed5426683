import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './scripts/test/long-files-first.ts'

/** One project per package. Every test file has a database of its own, cloned from one migrated template. */
const packages = [
  'schema',
  'store',
  'task',
  'client',
  'runner',
  'embedded',
  'destinations',
  'testing',
  'server',
  'dashboard',
  'cli',
  'bench',
  'chaos',
  'examples',
  'workspace',
]

/** Long tests of what shorter ones cover in part: `pnpm test:long` runs them. */
const longTests = [
  'packages/bench/test/bench.test.ts',
  'packages/chaos/test/batch.test.ts',
  'packages/chaos/test/drain.test.ts',
  'packages/chaos/test/kill.test.ts',
  'packages/cli/test/live-cluster.test.ts',
  'packages/cli/test/memory-recovery.test.ts',
  'packages/runner/test/deliver/github.test.ts',
  'packages/runner/test/poison.test.ts',
  'scripts/test/type-costs.test.ts',
  'scripts/test/workflow-type-costs.test.ts',
]

/** Packages are imported in source form, by Vite and by the Node processes it starts. */
const source = { resolve: { conditions: ['@q/source'] } }

export default defineConfig({
  // The environment Vitest loads its global setup in.
  environments: { __vitest__: source },
  test: {
    // Most of the time tests wait for something that happens elsewhere.
    maxWorkers: 6,
    sequence: { sequencer: LongFilesFirst },
    globalSetup: ['scripts/test/test-server.ts'],
    projects: packages.map((name) => ({
      ...source,
      ssr: source,
      test: {
        name,
        include: [name === 'workspace' ? 'scripts/test/**/*.test.ts' : `packages/${name}/test/**/*.test.ts`],
        exclude: process.env['Q_TEST_LONG'] === '1' ? [] : longTests,
        pool: 'forks',
        // Test files of a package share processes, which saves starting one and loading everything for each. A file that
        // leaves something behind fails, so that the next one is not disturbed.
        isolate: false,
        setupFiles: ['scripts/test/refuse-leaks.ts'],
        execArgv: ['--conditions=@q/source'],
        // A machine may be busy. Only a test that hangs takes that long.
        testTimeout: 120_000,
        hookTimeout: 120_000,
        expect: { poll: { timeout: 30_000, interval: 20 } },
      },
    })),
  },
})
