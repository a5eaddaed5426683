/**
 * `pnpm bench:soak`: 1 M short runs, then 30 minutes of mixed load while a session holds a snapshot. `--runs`, `--minutes`.
 * Writes docs/benchmarks/soak.json; `pnpm bench --report` puts it into the report.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { iterationsPerMs } from './jobs/calibrate.ts'
import { startServer } from './machine/server.ts'
import { soakFile } from './report/soak-section.ts'
import { runSoak, type SoakSample } from './soak/run-soak.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { runs: { type: 'string', default: '1000000' }, minutes: { type: 'string', default: '30' } },
})
const workspace = join(import.meta.dirname, '../../..')
const scratch = join(workspace, '.q/bench')
const lines = join(scratch, 'soak.jsonl')
const samples: SoakSample[] = []

mkdirSync(scratch, { recursive: true })
rmSync(lines, { force: true })
const server = await startServer()
try {
  await runSoak({
    server,
    iterationsPerMs: iterationsPerMs(),
    shortRuns: number('runs', values.runs),
    mixedMs: number('minutes', values.minutes) * 60_000,
    sampleEveryMs: 5_000,
    onSample(sample) {
      samples.push(sample)
      appendFileSync(lines, `${JSON.stringify(sample)}\n`)
      const { phase, atS, runs, perSecond, memoryMb, deadTuples } = sample
      console.error(
        `${atS.toFixed(0)} s, ${phase}: ${runs} runs, ${perSecond.toFixed(0)}/s, ${memoryMb.toFixed(0)} MB, ${deadTuples} dead tuples`,
      )
    },
  })
} finally {
  await server.close()
}
const folder = join(workspace, 'docs/benchmarks')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, soakFile), `[\n${samples.map((sample) => JSON.stringify(sample)).join(',\n')}\n]\n`)
console.error(`Every run succeeded at its first attempt. The samples are in ${join(folder, soakFile)}.`)

function number(option: string, text: string): number {
  if (!/^\d{1,8}(\.\d+)?$/.test(text) || Number(text) === 0)
    throw new Error(`--${option} must be a number above 0, not ${text}.`)
  return Number(text)
}
