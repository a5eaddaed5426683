/**
 * Vitest's setup of every test file. A file that leaves a thread, a child process, a socket or a timer behind fails, and so
 * does a test whose database still has connections when it is dropped; the error names them.
 */
import { afterAll } from 'vitest'
import { refuseLeftConnections } from '../../packages/testing/src/left-connections.ts'
import { endingMsMax, leaksSince, resources } from './leaks.ts'

refuseLeftConnections({ closingMs: endingMsMax })
// Node opens these pipes when they are first used: an import of node:process uses all of them.
void [process.stdin, process.stdout, process.stderr]
const before = resources()

// Hooks run in the reverse order of their registration, so the file has closed everything when this one runs.
afterAll(async () => {
  const leaks = await leaksSince(before)
  if (leaks.length > 0) throw new Error(`This test file left behind:\n  ${leaks.join('\n  ')}`)
}, 60_000)
