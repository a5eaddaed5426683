import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { plain, qFail, qRetry } from '../src/measurements/entrants.ts'
import type { Entrant, Figures, Measurement } from '../src/measurements/measurement.ts'
import type { BenchServer } from '../src/machine/server.ts'
import { writeReport } from '../src/report/write-report.ts'
import { openRecords, type Records } from '../src/run/records.ts'
import { runBench } from '../src/run/run-bench.ts'
import { benchRunFacts } from '../src/run/run-facts.ts'
import { sizes } from '../src/run/sizes.ts'

const canReadProc = process.platform === 'linux'

test.runIf(canReadProc)('a resumed run takes only the samples that are missing or failed', async () => {
  const { records, again } = await scratch()
  const taken: string[] = []
  let fails = true
  const sample = (entrant: Entrant) => {
    taken.push(entrant.label)
    if (entrant === qFail && fails) throw new Error('the disk is full')
    return { perSecond: 100 }
  }
  await run(records, sample)
  fails = false
  taken.length = 0
  await run(again(), sample)
  expect(taken).toEqual([qFail.label])
  await run(again(), sample)
  expect(taken).toEqual([qFail.label])
})

test.runIf(canReadProc)('a thing that could not be made for a sample is made again for the next one', async () => {
  const { records } = await scratch()
  let tries = 0
  const make = async (): Promise<AsyncDisposable> => {
    if (++tries === 1) throw new Error('the machine is busy')
    return { [Symbol.asyncDispose]: async () => {} }
  }
  const measurement = measurementOf([qRetry, qFail, plain], () => ({ perSecond: 1 }))
  const sample: Measurement['sample'] = async (bench) => {
    await bench.keep('table', make)
    return { perSecond: 1 }
  }
  await runBench({ ...surroundings(records), sizes: sizes.smoke, measurements: [{ ...measurement, sample }] })
  expect(records.all.map(({ kind }) => kind)).toEqual(['failure', 'sample', 'sample'])
  expect(tries).toBe(2)
})

test.runIf(canReadProc)('a sweep keeps the fastest settings of each contender, and the samples use them', async () => {
  const { records } = await scratch()
  const used: unknown[] = []
  const speeds = [100, 300, 200]
  const q = qRetry.contender
  const variants = { slow: { batch: 0 }, fast: { batch: 1 }, middling: { batch: 2 } }
  const entrant = { ...qRetry, contender: { ...q, variants: { ...q.variants, 'no-op': variants } } }
  await runBench({
    ...surroundings(records),
    sizes: { ...sizes.smoke, sweepRounds: 1 },
    measurements: [
      {
        ...measurementOf([entrant], (bench) => {
          const { batch = 0 } = bench.settingsFor(entrant.contender, 'no-op', 1)
          used.push(batch)
          return { perSecond: speeds[batch] ?? 0 }
        }),
      },
    ],
  })
  expect(used).toEqual([0, 1, 2, 1])
})

test.runIf(canReadProc)(
  'the report has a row for each goal, a table and a plot, and names failed samples',
  async () => {
    const { records, dir } = await scratch()
    records.add({
      kind: 'run',
      ...benchRunFacts({ size: 'smoke', command: 'pnpm bench', iterationsPerMs: 1, postgres: '18' }),
    })
    await run(records, (entrant) => {
      if (entrant === plain) throw new Error('no threads today')
      return { perSecond: entrant === qRetry ? 200 : 50, serverUs: 30 }
    })
    const document = await readFile(await writeReport(records.all, dir), 'utf8')
    expect(document).toContain(
      '| server CPU per no-op in batches | ≤ 35 µs | ≤ 26 µs | 30.0 | floor met; goal missed by 15 % |',
    )
    expect(document).toContain("| q, onCrash: 'fail' | 50.0 | 30.0 | – | – | – | 4.00 × |")
    expect(document).toContain('no threads today')
    expect(await readFile(join(dir, 'benchmarks/no-op-perSecond.svg'), 'utf8')).toContain('</svg>')
    expect(JSON.parse(await readFile(join(dir, 'benchmarks/samples.json'), 'utf8'))).toHaveLength(records.all.length)
  },
)

function measurementOf(
  entrants: readonly Entrant[],
  figuresOf: (...args: Parameters<Measurement['sample']>) => Figures,
) {
  const { name, title, method } = { name: 'no-op', title: 'No-op jobs', method: 'Not at all.' }
  const figures = [{ key: 'perSecond', title: 'jobs/s', better: 'more' as const }]
  return {
    name,
    title,
    method,
    figures,
    entrants,
    sample: async (...args: Parameters<Measurement['sample']>) => figuresOf(...args),
  }
}

async function run(records: Records, figuresOf: (entrant: Entrant) => Figures): Promise<void> {
  const measurements = [measurementOf([qRetry, qFail, plain], (_bench, entrant) => figuresOf(entrant))]
  await runBench({ ...surroundings(records), sizes: sizes.smoke, measurements })
}

/** What a run needs beside its measurements, without a database. */
function surroundings(records: Records) {
  const server = { postmasterPid: process.pid, dataDir: tmpdir() } as BenchServer
  return { server, records, iterationsPerMs: 1, say: () => {} }
}

async function scratch() {
  const dir = await mkdtemp(join(tmpdir(), 'q-bench-test-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const path = join(dir, 'samples.jsonl')
  return { dir, records: openRecords(path, false), again: () => openRecords(path, true) }
}
