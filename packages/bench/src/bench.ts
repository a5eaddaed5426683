/**
 * `pnpm bench`: compares q with other queues, on a separate PostgreSQL with durable writes. Writes docs/benchmarks.md.
 * `--help` lists its options.
 */
import { join } from 'node:path'
import { scriptOptions } from '@q/schema/script-options'
import { iterationsPerMs } from './jobs/calibrate.ts'
import { startBenchServer } from './machine/server.ts'
import { measurements } from './measurements/list.ts'
import { writeReport } from './report/write-report.ts'
import { openRecords, type BenchRunRecord } from './run/records.ts'
import { runBench } from './run/run-bench.ts'
import { benchRunFacts } from './run/run-facts.ts'
import { sizes } from './run/sizes.ts'

const args = process.argv.slice(2).filter((argument) => argument !== '--')
const values = scriptOptions('bench', {
  quick: { flag: true, means: 'one round with small sizes, under 3 minutes; the report goes to .q/bench' },
  only: { text: '', means: 'only these measurements, separated by commas; the report goes to .q/bench' },
  rounds: { number: 0, least: 1, most: 99, means: 'rounds, 5 unless given' },
  resume: { flag: true, means: 'take the samples that the last run did not take' },
  report: { flag: true, means: 'write the report from the samples of the last run, without measuring' },
})
const workspace = join(import.meta.dirname, '../../..')
const scratch = join(workspace, '.q/bench')
const selected = select(values.only === '' ? undefined : values.only.split(','))
const isWhole = !values.quick && values.only === ''
const size = { ...sizes[values.quick ? 'quick' : 'full'], ...(values.rounds > 0 && { rounds: values.rounds }) }
const records = openRecords(join(scratch, `${values.quick ? 'quick' : 'full'}.jsonl`), values.resume || values.report)

if (!values.report) await measure()
const written = await writeReport(records.all, isWhole ? join(workspace, 'docs') : scratch)
console.error(`The report is in ${written}.`)

async function measure(): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => {
    console.error('The run stops after this sample. Press Ctrl-C again to stop now; --resume continues.')
    stop.abort()
  })
  const server = await startBenchServer()
  try {
    const before = records.all.find((record): record is BenchRunRecord => record.kind === 'run')
    const perMs = before?.iterationsPerMs ?? iterationsPerMs()
    if (before === undefined) {
      const command = ['pnpm bench', ...args.filter((argument) => argument !== '--resume')].join(' ')
      records.add({
        kind: 'run',
        ...benchRunFacts({ size: size.name, command, iterationsPerMs: perMs, postgres: server.version }),
      })
    }
    await runBench({
      server,
      records,
      sizes: size,
      measurements: selected,
      iterationsPerMs: perMs,
      say: (line) => console.error(line),
      stopping: stop.signal,
    })
  } finally {
    await server.close()
  }
}

function select(names: readonly string[] | undefined) {
  const unknown = names?.filter((name) => !measurements.some((measurement) => measurement.name === name)) ?? []
  if (unknown.length > 0)
    refuse(`No such measurement: ${unknown.join(', ')}. There are: ${measurements.map(({ name }) => name).join(', ')}.`)
  return measurements.filter(({ name, long = false }) => names?.includes(name) ?? !(values.quick && long))
}

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}
