/** The pause after consecutive failures: it doubles up to a bound. Jitter of up to a half keeps replicas from retrying together. */
export interface Backoff {
  readonly firstMs: number
  readonly msMax: number
}

/** `failures`: how many in a row, from 1. */
export function backoffMs({ firstMs, msMax }: Backoff, failures: number): number {
  const worstMs = Math.min(msMax, firstMs * 2 ** (failures - 1))
  return Math.round(worstMs * (0.5 + Math.random() / 2))
}
