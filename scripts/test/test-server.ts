/**
 * Vitest's global setup. It stands at the root of vitest.config.ts, not in the projects: there it runs once per run,
 * in them once per project. Test files find the server through the environment (@q/testing).
 */
import { testRun } from '@q/testing'

export default async function setup(): Promise<() => Promise<void>> {
  const run = await testRun()
  return () => run.end()
}
