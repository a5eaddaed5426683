/**
 * `pnpm bench:soak`: 1 M short runs, then 30 minutes of mixed load while a session holds a snapshot. `--runs`, `--minutes`.
 * Writes docs/benchmarks/soak.json; `pnpm bench --report` puts it into the report.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptOptions } from '@q/schema/script-options'
import { iterationsPerMs } from './jobs/calibrate.ts'
import { startBenchServer } from './machine/server.ts'
import { soakFile } from './report/soak-section.ts'
import { runSoak, type SoakSample } from './soak/run-soak.ts'

const values = scriptOptions('bench:soak', {
  runs: { number: 1_000_000, least: 1, most: 99_999_999, means: 'short runs at the beginning' },
  minutes: { number: 30, least: 0.01, fraction: true, means: 'minutes of mixed load after them' },
})
const workspace = join(import.meta.dirname, '../../..')
const scratch = join(workspace, '.q/bench')
const lines = join(scratch, 'soak.jsonl')
const samples: SoakSample[] = []

mkdirSync(scratch, { recursive: true })
rmSync(lines, { force: true })
const server = await startBenchServer()
try {
  await runSoak({
    server,
    iterationsPerMs: iterationsPerMs(),
    shortRuns: values.runs,
    mixedMs: values.minutes * 60_000,
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
