/**
 * `pnpm mutants`: plants known faults into a copy of the workspace, one after the other, and expects red tests. A fault
 * that survives means that a law is written down nowhere. Takes minutes, so it is no part of `pnpm test`; that the
 * places to change still exist is (scripts/test/mutants.test.ts). `--only name,name` tries a few.
 */
import { parseArgs } from 'node:util'
import { testRun } from '@q/testing'
import { copyOfWorkspace } from './mutants/copy.ts'
import { faults, type Fault } from './mutants/faults.ts'
import { redTest } from './mutants/trial.ts'

const chosen = choose(process.argv.slice(2).filter((argument) => argument !== '--'))
process.exitCode = (await tryAll(chosen)) ? 0 : 1

async function tryAll(list: readonly Fault[]): Promise<boolean> {
  const server = await testRun()
  await using copy = await copyOfWorkspace()
  try {
    const sound = await timed(() => redTest(copy.folder))
    print('(no fault)', sound.seconds, sound.value ?? 'green, as it should be')
    if (sound.value !== undefined) return false
    const survivors: string[] = []
    for (const fault of list) {
      const heal = await copy.plant(fault)
      const { value, seconds } = await timed(() => redTest(copy.folder))
      await heal()
      print(fault.name, seconds, value ?? `SURVIVED. ${fault.why}`)
      if (value === undefined) survivors.push(fault.name)
    }
    console.log(`${list.length - survivors.length} of ${list.length} faults were caught.`)
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
  console.log(`${name.padEnd(34)} ${seconds.toFixed(1).padStart(6)} s  ${what}`)
}

function choose(args: string[]): readonly Fault[] {
  const { only } = parseArgs({ args, options: { only: { type: 'string' } } }).values
  if (only === undefined) return faults
  const names = only.split(',')
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name))
  if (unknown.length === 0) return faults.filter((fault) => names.includes(fault.name))
  console.error(`No such fault: ${unknown.join(', ')}. There are: ${faults.map((fault) => fault.name).join(', ')}.`)
  process.exit(2)
}
