/**
 * One trial: are the tests red? The files that a fault names run first. If they are green, the model (fewer runs than in
 * `pnpm model`) and the other tests of the store look for the fault, so that the report can say which file to name.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storeModel, type Fault } from './fault.ts'

const modelRuns = 150
/** A test that hangs is named, instead of ending the whole trial. */
const testSecondsMax = 60
const trialSecondsMax = 240

const storeTests = ['packages/store/test/', '--exclude=**/test/model/**', '--exclude=**/test/plans/**']

export interface TrialResult {
  readonly caught: boolean
  readonly text: string
}

export async function runTrial(folder: string, { why, caughtBy }: Fault): Promise<TrialResult> {
  const red = await redTest(folder, caughtBy)
  if (red !== undefined) return { caught: true, text: red }
  const elsewhere = (await redTest(folder, [storeModel])) ?? (await redTest(folder, storeTests))
  if (elsewhere === undefined) return { caught: false, text: `SURVIVED. ${why}` }
  return { caught: false, text: `SURVIVED the tests it names; caught by ${elsewhere}` }
}

/** The first red test, or undefined if all are green. `filter`: test files of any package, and options of Vitest. */
export async function redTest(folder: string, filter: readonly string[]): Promise<string | undefined> {
  const report = join(folder, 'report.json')
  await rm(report, { force: true })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const limits = ['--bail=1', `--testTimeout=${testSecondsMax * 1000}`]
  const reporters = ['--reporter=json', `--outputFile.json=${report}`]
  const child = spawn(process.execPath, [vitest, 'run', ...limits, ...reporters, ...filter], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, Q_MODEL_RUNS: String(modelRuns), Q_MODEL_SHRINK: 'no' },
  })
  const late = setTimeout(() => endAll(child.pid), trialSecondsMax * 1000)
  const [code] = (await once(child, 'close')) as (number | null)[]
  clearTimeout(late)
  if (code === 0) return undefined
  if (code === null) return `not done after ${trialSecondsMax} s`
  return firstRed(await readFile(report, 'utf8').catch(() => undefined))
}

/** Ends Vitest with the workers it started. */
function endAll(pid: number | undefined): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[]
  }[]
}

function firstRed(text: string | undefined): string {
  if (text === undefined) return 'Vitest itself failed'
  const { testResults } = JSON.parse(text) as Report
  const file = testResults.find((one) => one.status === 'failed')
  const title = file?.assertionResults.find((one) => one.status === 'failed')?.title
  return `${file?.name.split('/').at(-1) ?? '?'}: ${title ?? 'could not be loaded'}`
}
