/** Vitest's `globalSetup`: one server and one template for all test files of a run (test-run.ts). */
import { testRun } from './test-run.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const run = await testRun()
  return run.end
}
