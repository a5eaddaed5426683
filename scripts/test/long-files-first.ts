/**
 * Vitest's order of test files, with the longest files of all packages first. Vitest knows their times only after a first run in
 * a clone, and a long file that starts last runs alone while all other processes are idle. The other files stay together by
 * package, because files of a package share processes.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take 20 seconds or more, the longest first. */
const long = [
  'examples/test/documents',
  'cli/test/embedded',
  'runner/test/cut-points',
  'runner/test/drain',
  'runner/test/limits',
  'cli/test/database',
  'runner/test/workflows',
  'cli/test/replica',
  'store/test/model/store-model',
  'runner/test/poison',
  'cli/test/enqueue',
  'dashboard/test/browser/page',
  'runner/test/signals',
  'runner/test/cut-off',
  'cli/test/boot',
  'runner/test/lost-sessions',
  'chaos/test/batch',
  'runner/test/deaths',
  'runner/test/database-restart',
  'scripts/test/spin',
  'runner/test/processes',
  'chaos/test/kill',
  'runner/test/liveness',
  'chaos/test/drain',
  'store/test/plans/plans',
  'bench/test/bench',
  'scripts/test/type-costs',
  'scripts/test/workflow-type-costs',
]

// A class, because Vitest expects one.
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sort of a sequencer, not of an array
    const sorted = await super.sort(files)
    const groups = Map.groupBy(sorted, (file) => (rankOf(file) < long.length ? 'long' : file.project.name))
    const { long: first = [], ...rest } = Object.fromEntries(groups)
    return [...first.toSorted((a, b) => rankOf(a) - rankOf(b)), ...Object.values(rest).flat()]
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
  return rank === -1 ? long.length : rank
}
