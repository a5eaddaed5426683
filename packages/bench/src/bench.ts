/**
 * `pnpm bench`: compares q with other queues, on a separate PostgreSQL with durable writes. Writes docs/benchmarks.md.
 *
 * --quick           one round with small sizes, under 3 minutes; the report goes to .q/bench  --only a,b        only
 * these measurements; the report goes to .q/bench  --rounds n        rounds, 5 unless given  --resume          takes
 * the samples that the last run did not take  --report          writes the report from the samples of the last run,
 * without measuring
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { iterationsPerMs } from './jobs/calibrate.ts'
import { startServer } from './machine/server.ts'
import { measurements } from './measurements/list.ts'
import { writeReport } from './report/write-report.ts'
import { openRecords, type BenchRunRecord } from './run/records.ts'
import { runBench } from './run/run-bench.ts'
import { benchRunFacts } from './run/run-facts.ts'
import { sizes } from './run/sizes.ts'

const args = process.argv.slice(2).filter((argument) => argument !== '--')
const { values } = parseArgs({
  args,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    resume: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})
const workspace = join(import.meta.dirname, '../../..')
const scratch = join(workspace, '.q/bench')
const selected = select(values.only?.split(','))
const isWhole = !values.quick && values.only === undefined
const size = { ...sizes[values.quick ? 'quick' : 'full'], ...(values.rounds && { rounds: whole(values.rounds) }) }
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
  const server = await startServer()
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
    throw new Error(
      `No such measurement: ${unknown.join(', ')}. There are: ${measurements.map(({ name }) => name).join(', ')}.`,
    )
  return measurements.filter(({ name, long = false }) => names?.includes(name) ?? !(values.quick && long))
}

function whole(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new Error(`--rounds must be a number from 1 to 99, not ${text}.`)
  return Number(text)
}
