/**
 * `pnpm test`: everything that has to hold, one line per step. All steps run, whatever failed before. The last line counts
 * every test of Vitest and one for each other step; the ten slowest tests are named above it.
 * `--only types,lint` runs parts, `--shuffle` runs the tests of each file in a random order (`--seed` repeats one), and
 * `--busy` keeps every core busy while Vitest runs.
 */
import { scriptOptions } from '@q/schema/script-options'
import { add, type Counts, line, nothing } from './test-steps/counts.ts'
import { type Step, stepGroups } from './test-steps/steps.ts'

const { only, seed, ...how } = scriptOptions('test', {
  only: { text: '', means: 'steps, separated by commas: format, lint, types, boundaries, words, knip, codegen, …' },
  shuffle: { flag: true, means: 'run the tests of each file in a random order' },
  seed: { text: '', means: 'repeat the random order of an earlier run' },
  busy: { flag: true, means: 'keep every core busy while Vitest runs' },
})
const steps = only === '' ? undefined : only.split(',')
const groups = stepGroups({ ...how, seed: seed === '' ? undefined : seed })
checkNames(steps ?? [])

let total: Counts = nothing
const notes: string[] = []
for (const group of groups) {
  const started = group.filter(({ name }) => steps?.includes(name) ?? true).map(timed)
  for (const step of started) {
    const { name, seconds, counts, output, note } = await step
    if (counts.failed > 0 && output !== '') console.log(output.trimEnd())
    console.log(`${name.padEnd(16)} ${counts.failed === 0 ? 'ok    ' : 'FAILED'} ${seconds.toFixed(1).padStart(6)} s`)
    total = add(total, counts)
    if (note !== undefined) notes.push(note)
  }
}
for (const note of notes) console.log(note)
console.log(line(total))
process.exitCode = total.failed === 0 ? 0 : 1

async function timed({ name, run }: Step) {
  const began = performance.now()
  const ended = await run()
  return { name, seconds: (performance.now() - began) / 1000, ...ended }
}

function checkNames(wanted: readonly string[]): void {
  const names = groups.flat().map(({ name }) => name)
  const unknown = wanted.filter((name) => !names.includes(name))
  if (unknown.length === 0) return
  console.error(`No such step: ${unknown.join(', ')}. There are: ${names.join(', ')}.`)
  process.exit(2)
}
