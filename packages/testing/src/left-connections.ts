/**
 * Connections that are still open when their test database is dropped. `drop()` ends them. After `refuseLeftConnections()`
 * it waits longer, ends them, and rejects with their names.
 */
export interface LeftConnection {
  readonly application: string
  readonly state: string | null
  readonly query: string
}

/** How long the server may take to end a closed connection; longer on a busy machine. */
let closingMs = 1_000
let refused = false

export function refuseLeftConnections(options: { readonly closingMs: number }): void {
  refused = true
  closingMs = options.closingMs
}

export function acceptLeftConnections(): void {
  refused = false
  closingMs = 1_000
}

export function closingMsMax(): number {
  return closingMs
}

export function throwIfRefused(database: string, left: readonly LeftConnection[]): void {
  if (!refused || left.length === 0) return
  const names = left.map(({ application, state, query }) => `${application} (${state}): ${query.slice(0, 200)}`)
  throw new Error(`Connections to ${database} were open when it was dropped:\n  ${names.join('\n  ')}`)
}
