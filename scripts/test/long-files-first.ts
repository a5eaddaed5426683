/**
 * Vitest's order of test files, with the longest files of each package first. Vitest knows their times only after a first run in a
 * clone, and a long file that starts last runs alone while all other processes are idle.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const long = [
  'store/test/model/store-model',
  'store/test/model/workflow-model',
  'store/test/fairness',
  'runner/test/poison',
  'runner/test/database-restart',
  'runner/test/cut-off',
  'runner/test/cut-points',
  'runner/test/deaths',
  'runner/test/drain',
  'cli/test/embedded',
  'examples/test/documents',
  'scripts/test/type-costs',
  'scripts/test/workflow-type-costs',
]

// A class, because Vitest expects one.
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sort of a sequencer, not of an array
    const sorted = await super.sort(files)
    const groups = Map.groupBy(sorted, ({ project }) => project.name)
    return [...groups.values()].flatMap((group) => group.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a))))
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return long.some((name) => moduleId.endsWith(`/${name}.test.ts`))
}
