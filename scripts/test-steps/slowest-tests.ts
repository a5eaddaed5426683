/** The ten slowest tests of a report, one per line: seconds, file, title. */
import { relative } from 'node:path'

export interface TestFile {
  /** Its absolute path. */
  readonly name: string
  readonly status: string
  readonly assertionResults: readonly { readonly fullName: string; readonly duration?: number | null }[]
}

export function slowestTests(files: readonly TestFile[], root: string): string {
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration }) => ({ file: relative(root, name), fullName, ms: duration ?? 0 })),
  )
  const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, 10)
  const lines = slowest.map(({ file, fullName, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}: ${fullName}`)
  return ['the slowest tests:', ...lines].join('\n')
}
