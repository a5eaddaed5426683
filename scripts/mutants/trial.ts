/** One trial: do the tests turn red? The model first, with few runs; then the store's other tests. Both have a limit. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const modelRuns = 300
const secondsMax = { model: 150, others: 240 }
const model = 'test/model/'
/** The model was tried already; plans over millions of rows take too long and say nothing about states. */
const leftOut = [model, 'test/plans/']

/** The first test that was red, or undefined: all were green. */
export async function redTest(folder: string): Promise<string | undefined> {
  return (
    (await red(folder, [model], secondsMax.model)) ??
    (await red(folder, ['packages/store/test', ...leftOut.map((part) => `--exclude=**/${part}**`)], secondsMax.others))
  )
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[]
  }[]
}

async function red(folder: string, filter: readonly string[], limitSeconds: number): Promise<string | undefined> {
  const report = join(folder, 'report.json')
  await rm(report, { force: true })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=json', `--outputFile.json=${report}`]
  const child = spawn(process.execPath, [vitest, 'run', '--project=store', '--bail=1', ...reporters, ...filter], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, Q_MODEL_RUNS: String(modelRuns), Q_MODEL_SHRINK: 'no' },
  })
  const late = setTimeout(() => endAll(child.pid), limitSeconds * 1000)
  const [code] = (await once(child, 'close')) as (number | null)[]
  clearTimeout(late)
  if (code === 0) return undefined
  if (code === null) return `not done after ${limitSeconds} s`
  return firstRed(await readFile(report, 'utf8').catch(() => undefined))
}

/** With the workers it started. */
function endAll(pid: number | undefined): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

function firstRed(text: string | undefined): string {
  if (text === undefined) return 'Vitest itself failed'
  const { testResults } = JSON.parse(text) as Report
  const file = testResults.find((one) => one.status === 'failed')
  const title = file?.assertionResults.find((one) => one.status === 'failed')?.title
  return `${file?.name.split('/').at(-1) ?? '?'}: ${title ?? 'could not be loaded'}`
}
