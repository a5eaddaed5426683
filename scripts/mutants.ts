/**
 * `pnpm mutants`: plants known faults into a copy of the workspace, one after the other, and expects that a test file which
 * the fault names is red. A fault that survives them means that a law is written down nowhere, or elsewhere than stated.
 * Takes minutes, so it is not part of `pnpm test`, which checks that the places to change and the named files exist
 * (scripts/test/mutants.test.ts). `--only name,name` tries a few.
 */
import { scriptOptions } from '@q/schema/script-options'
import { testRun } from '@q/testing'
import { copyOfWorkspace } from './mutants/copy.ts'
import type { Fault } from './mutants/fault.ts'
import { faults } from './mutants/faults.ts'
import { redTest, runTrial } from './mutants/trial.ts'

const chosen = choose()
const whole = await timed(() => tryAll(chosen))
console.log(`Done in ${Math.ceil(whole.seconds / 60)} min.`)
process.exitCode = whole.value ? 0 : 1

async function tryAll(list: readonly Fault[]): Promise<boolean> {
  const server = await testRun()
  await using copy = await copyOfWorkspace()
  try {
    const named = new Set(list.flatMap((fault) => fault.caughtBy))
    const sound = await timed(() => redTest(copy.folder, [...named]))
    print('(no fault)', sound.seconds, sound.value ?? 'green, as it should be')
    if (sound.value !== undefined) return false
    const survivors: string[] = []
    for (const fault of list) {
      const restore = await copy.plant(fault)
      const trial = await timed(() => runTrial(copy.folder, fault))
      await restore()
      print(fault.name, trial.seconds, trial.value.text)
      if (!trial.value.caught) survivors.push(fault.name)
    }
    console.log(`${list.length - survivors.length} of ${list.length} faults were caught.`)
    if (survivors.length > 0) console.log(`Not caught: ${survivors.join(',')}`)
    return survivors.length === 0
  } finally {
    await server.end()
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const began = performance.now()
  return { value: await work(), seconds: (performance.now() - began) / 1000 }
}

function print(name: string, seconds: number, what: string): void {
  console.log(`${name.padEnd(38)} ${seconds.toFixed(1).padStart(6)} s  ${what}`)
}

function choose(): readonly Fault[] {
  const { only } = scriptOptions('mutants', { only: { text: '', means: 'names of faults, separated by commas' } })
  if (only === '') return faults
  const names = only.split(',')
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name))
  if (unknown.length === 0) return faults.filter((fault) => names.includes(fault.name))
  console.error(`No such fault: ${unknown.join(', ')}. There are: ${faults.map((fault) => fault.name).join(', ')}.`)
  process.exit(2)
}
