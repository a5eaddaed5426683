import { tmpdir } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { iterationsPerMs } from '../src/jobs/calibrate.ts'
import { benchServer, type BenchServer } from '../src/machine/server.ts'
import { qRetry } from '../src/measurements/entrants.ts'
import { measurements } from '../src/measurements/list.ts'
import type { BenchRecord } from '../src/run/records.ts'
import { runBench } from '../src/run/run-bench.ts'
import { sizes } from '../src/run/sizes.ts'

// The benchmark reads /proc, and the test server may be elsewhere.
const canMeter = process.platform === 'linux' && process.env.Q_TEST_DATABASE_URL === undefined
/** `round-trips` drains jobs as these do; `blocked-loop` starts every peer. */
const leftOut = ['no-op', 'cpu-2ms', 'cpu-22ms', 'replicas', 'blocked-loop']
/** All of them start processes at the same time, and the machine may be busy. */
const busyMsMax = 600_000

describe.runIf(canMeter).concurrent('the smallest form of each measurement', () => {
  let server: BenchServer
  const perMs = iterationsPerMs()

  beforeAll(async () => {
    const database = await testDatabase()
    server = await benchServer(database.url, { version: 'test', dataDir: tmpdir(), close: database.drop })
    return () => server.close()
  })

  test.for(measurements.filter(({ name }) => !leftOut.includes(name)))(
    '$name of q ends with all of its figures, and every run has the right result',
    { timeout: busyMsMax },
    async (measurement) => {
      const all: BenchRecord[] = []
      const records = { all, add: (record: BenchRecord) => void all.push(record) }
      const isSmall = ({ contender, onCrash }: (typeof measurement.entrants)[number]) =>
        contender === qRetry.contender && onCrash !== 'fail'
      const entrants = measurement.entrants.filter(isSmall)
      const small = [{ ...measurement, entrants }]
      await runBench({
        server,
        records,
        sizes: sizes.smoke,
        measurements: small,
        iterationsPerMs: perMs,
        say: () => {},
      })
      expect(all.filter(({ kind }) => kind === 'failure')).toEqual([])
      const figures = Object.fromEntries(measurement.figures.map(({ key }) => [key, expect.any(Number)]))
      expect(all).toMatchObject(entrants.map(({ label }) => ({ kind: 'sample', entrant: label, figures })))
    },
  )
})
