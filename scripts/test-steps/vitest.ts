/**
 * The tests of every package, shown as they run and counted from Vitest's own report. What is wrong outside of a test
 * counts too: a file that cannot be loaded, an error nobody caught, a Vitest that died before it could report.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add, type Counts, nothing, oneFailed } from './counts.ts'
import { workspace } from '../workspace.ts'
import { runCommand } from './run-command.ts'

/** What one process or thread has compiled, the next one need not: hundreds of them are started. */
const compileCache = join(workspace, 'node_modules/.cache/compiled')

export async function vitest(): Promise<{ counts: Counts; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'q-vitest-'))
  try {
    const report = join(folder, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const argv = ['vitest', 'run', ...reporters]
    const { code, output } = await runCommand({ argv, stream: true, env: { NODE_COMPILE_CACHE: compileCache } })
    const text = await readFile(report, 'utf8').catch(() => undefined)
    return { counts: countsOf(text, code), output }
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

export function countsOf(report: string | undefined, code: number | null): Counts {
  if (report === undefined) return oneFailed
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(report) as Report
  const unloadable = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const failed = numFailedTests + unloadable.length
  const counts = { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests }
  return add(counts, code !== 0 && failed === 0 ? oneFailed : nothing)
}
