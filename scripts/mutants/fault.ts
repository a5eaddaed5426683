/** A planted fault: a small change that could pass for an improvement, and the tests that must be red with it. */

export interface Edit {
  /** From the root of the workspace. */
  readonly file: string
  /** Occurs exactly once in it. */
  readonly find: string
  readonly replace: string
}

export interface Fault {
  readonly name: string
  /** What goes wrong with it, and so why a test must be red. */
  readonly why: string
  /** The test files that must be red, of any package, from the root of the workspace. */
  readonly caughtBy: readonly [string, ...string[]]
  readonly edits: readonly Edit[]
}

/** For faults that no other test catches: it takes much longer than a test file. */
export const storeModel = 'packages/store/test/model/store-model.test.ts'

export function storeTest(name: string): string {
  return `packages/store/test/${name}.test.ts`
}

export function runnerTest(name: string): string {
  return `packages/runner/test/${name}.test.ts`
}
