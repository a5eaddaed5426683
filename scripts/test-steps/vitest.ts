/**
 * The tests of every package, shown as they run and counted from Vitest's own report. A fault outside of a test counts
 * too: a file that cannot be loaded, an uncaught error, a Vitest that died before it could report.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add, type Counts, nothing, oneFailed } from './counts.ts'
import { workspace } from '../workspace.ts'
import { keepCoresBusy } from './busy-cores.ts'
import { runCommand } from './run-command.ts'
import { slowestTests, type TestFile } from './slowest-tests.ts'
import type { StepEnd } from './steps.ts'

export interface VitestOptions {
  /** Whether the tests of a file run in a random order. Vitest prints the seed. */
  readonly shuffle: boolean
  /** Repeats the order of an earlier run. */
  readonly seed?: string | undefined
  /** Whether each core executes a busy loop beside the tests. */
  readonly busy: boolean
}

/** The tests start hundreds of processes and threads; each reuses code that an earlier one has compiled. */
const compileCache = join(workspace, 'node_modules/.cache/q')

export async function vitest({ shuffle, seed, busy }: VitestOptions): Promise<StepEnd> {
  const folder = await mkdtemp(join(tmpdir(), 'q-vitest-'))
  const release = busy ? keepCoresBusy() : undefined
  try {
    const path = join(folder, 'report.json')
    const argv = ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${path}`]
    if (shuffle) argv.push('--sequence.shuffle.tests')
    if (seed !== undefined) argv.push(`--sequence.seed=${seed}`)
    const { code, output } = await runCommand({ argv, stream: true, env: { NODE_COMPILE_CACHE: compileCache } })
    const text = await readFile(path, 'utf8').catch(() => undefined)
    const report = text === undefined ? undefined : (JSON.parse(text) as Report)
    return { counts: countsOf(report, code), output, note: slowestTests(report?.testResults ?? [], workspace) }
  } finally {
    await release?.()
    await rm(folder, { recursive: true })
  }
}

export interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly TestFile[]
}

export function countsOf(report: Report | undefined, code: number | null): Counts {
  if (report === undefined) return oneFailed
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = report
  const unloadable = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const failed = numFailedTests + unloadable.length
  const counts = { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests }
  return add(counts, code !== 0 && failed === 0 ? oneFailed : nothing)
}
