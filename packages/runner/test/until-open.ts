/** The code's side of a gate (gate.ts). Tasks import it, so it imports nothing of the tests. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when the gate is open; rejects when the signal aborts. */
export async function untilOpen(file: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(file)) await sleep(20, undefined, { signal })
}
