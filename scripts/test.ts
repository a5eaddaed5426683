/**
 * `pnpm test`: everything that has to hold, in order, one line per step. All steps run, whatever failed before.
 * The last line counts every test of Vitest and one for each other step. `pnpm test --only types,lint` runs parts.
 */
import { parseArgs } from 'node:util'
import { add, type Counts, line, nothing } from './test-steps/counts.ts'
import { steps } from './test-steps/steps.ts'

const chosen = choose(process.argv.slice(2).filter((argument) => argument !== '--'))
let total: Counts = nothing
for (const step of chosen) {
  const began = performance.now()
  const { counts, output } = await step.run()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  if (counts.failed > 0 && output !== '') console.log(output.trimEnd())
  console.log(`${step.name.padEnd(16)} ${counts.failed === 0 ? 'ok    ' : 'FAILED'} ${seconds.padStart(6)} s`)
  total = add(total, counts)
}
console.log(line(total))
process.exitCode = total.failed === 0 ? 0 : 1

function choose(args: string[]) {
  const { only } = parseArgs({ args, options: { only: { type: 'string' } } }).values
  if (only === undefined) return steps
  const names = only.split(',')
  const unknown = names.filter((name) => !steps.some((step) => step.name === name))
  if (unknown.length === 0) return steps.filter((step) => names.includes(step.name))
  console.error(`No such step: ${unknown.join(', ')}. There are: ${steps.map((step) => step.name).join(', ')}.`)
  process.exit(2)
}
