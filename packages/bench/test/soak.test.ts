import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { benchServer } from '../src/machine/server.ts'
import { soakSection } from '../src/report/soak-section.ts'
import { runSoak, type SoakSample } from '../src/soak/run-soak.ts'

// The benchmark reads /proc, and the test server may be elsewhere.
const canMeter = process.platform === 'linux' && process.env.Q_TEST_DATABASE_URL === undefined

test.runIf(canMeter)(
  'the long run, made short, executes every run once and samples at both phases',
  { timeout: 600_000 },
  async () => {
    const database = await testDatabase()
    const server = await benchServer(database.url, { version: 'test', dataDir: tmpdir(), close: database.drop })
    onTestFinished(() => server.close())
    const samples: SoakSample[] = []
    const sizes = { iterationsPerMs: 10, shortRuns: 100, mixedMs: 150, sampleEveryMs: 20 }
    await runSoak({ server, ...sizes, onSample: (sample) => samples.push(sample) })
    expect(new Set(samples.map(({ phase }) => phase))).toEqual(new Set(['short runs', 'mixed load, held snapshot']))
    expect(samples.at(-1)?.runs).toBeGreaterThan(sizes.shortRuns)
    expect(soakSection(samples)?.plots).toHaveProperty('soak-memory.svg')
  },
)
