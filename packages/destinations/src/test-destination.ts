/** Sends a test report to a destination from this process. The process needs the secrets that the destination names. */
import type { DestinationDeclaration } from './check-destination.ts'
import { destinationKinds } from './kinds.ts'
import type { SenderState, SendResult } from './sender.ts'

export async function testDestination(
  { name, kind, settings = {} }: Pick<DestinationDeclaration, 'name' | 'kind' | 'settings'>,
  env: (variable: string) => string | undefined,
): Promise<SendResult> {
  const found = Object.hasOwn(destinationKinds, kind) ? destinationKinds[kind] : undefined
  if (found === undefined) return { kind: 'rejected', error: `This release does not know the kind ${kind}.` }
  try {
    const state = emptyState()
    const sender = await found.open({ name, settings, env, state, nowMs: () => Date.now(), log: () => {} })
    try {
      return await sender.test()
    } finally {
      await sender.close()
    }
  } catch (error) {
    return { kind: 'failed', error: error instanceof Error ? error.message : String(error) }
  }
}

/** A test stores no state. */
function emptyState(): SenderState {
  const get = () => Promise.resolve(undefined)
  const shared = { get, replace: () => Promise.resolve(true) }
  return { get, put: () => Promise.resolve(), remove: () => Promise.resolve(), shared }
}
