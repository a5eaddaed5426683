import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { iterationsPerMs } from '../src/jobs/calibrate.ts'
import { benchServer } from '../src/machine/server.ts'
import { qRetry } from '../src/measurements/entrants.ts'
import { measurements } from '../src/measurements/list.ts'
import { openRecords } from '../src/run/records.ts'
import { runBench } from '../src/run/run-bench.ts'
import { sizes } from '../src/run/sizes.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

// The benchmark reads /proc, and the test server may be elsewhere.
const canMeter = process.platform === 'linux' && process.env.Q_TEST_DATABASE_URL === undefined
/** These two differ from `no-op` by the length of their jobs alone. */
const sameCode = ['cpu-2ms', 'cpu-22ms']

test.runIf(canMeter)('every measurement of q ends with all of its figures', async () => {
  const database = await testDatabase()
  const dir = await mkdtemp(join(tmpdir(), 'q-bench-test-'))
  const server = await benchServer(database.url, { version: 'test', dataDir: dir, leave: database.drop })
  onTestFinished(async () => {
    await server.leave()
    await rm(dir, { recursive: true, force: true })
  })
  const records = openRecords(join(dir, 'samples.jsonl'), false)
  const small = measurements
    .filter(({ name }) => !sameCode.includes(name))
    .map((measurement) => ({
      ...measurement,
      entrants: measurement.entrants.filter(
        ({ contender, onCrash }) => contender === qRetry.contender && onCrash !== 'fail',
      ),
    }))
  const run = {
    server,
    records,
    sizes: sizes.smoke,
    measurements: small,
    iterationsPerMs: iterationsPerMs(),
    say: () => {},
  }
  await runBench(run)
  expect(records.all.filter(({ kind }) => kind === 'failure')).toEqual([])
  for (const { name, figures, entrants } of small) {
    const samples = records.all.filter((record) => record.kind === 'sample' && record.measurement === name)
    expect(samples).toHaveLength(entrants.length)
    for (const sample of samples)
      expect(sample).toMatchObject({
        figures: Object.fromEntries(figures.map(({ key }) => [key, expect.any(Number)])),
      })
  }
})
