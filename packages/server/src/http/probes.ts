/**
 * Probes for orchestrators. `/healthz`: the process answers; the probe does not query the database, so that an outage
 * of the database restarts no replica. `/startupz`: the server has reached its database once. `/readyz`: the same, and
 * the replica is not draining.
 */
import type { Store } from '@q/store'

export interface Probes {
  answer(path: string): Response
}

export interface ProbeState {
  readonly started: () => boolean
  readonly draining: () => boolean
}

export function createProbes({ started, draining }: ProbeState): Probes {
  return {
    answer(path) {
      if (path === '/healthz') return stateResponse(200, 'ok')
      if (!started()) return stateResponse(503, 'starting')
      return path === '/readyz' && draining() ? stateResponse(503, 'draining') : stateResponse(200, 'ok')
    },
  }
}

function stateResponse(status: number, state: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  return new Response(`${state}\n`, { status, headers })
}

/** Whether the database has answered once. Each call queries it again until then. */
export function hasAnswered(reads: Pick<Store, 'publishedTasks'>): () => boolean {
  let answered = false
  let isAsking = false
  function ask(): void {
    if (answered || isAsking) return
    isAsking = true
    void reads.publishedTasks().then(
      () => (answered = true),
      () => (isAsking = false),
    )
  }
  ask()
  return () => {
    ask()
    return answered
  }
}
