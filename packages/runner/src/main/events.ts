/** The events that a replica reports to observers. An observer may lose an event; nothing depends on it. */
import type { Inconsistency, OnDeadline, RunId, StaleCause } from '@q/store'

export type RunnerEvent =
  | {
      readonly type: 'run-started'
      readonly runId: RunId
      readonly task: string
      readonly attempt: number
      readonly thread: number
    }
  | {
      readonly type: 'run-ended'
      readonly runId: RunId
      readonly task: string
      readonly status: string
      readonly tookMs: number
      readonly code?: string
      readonly detail?: string
      /** The first frame of the error in the task's own code. */
      readonly at?: string
    }
  /** The run failed or requested a retry, and will start again. */
  | {
      readonly type: 'run-retried'
      readonly runId: RunId
      readonly task: string
      readonly tookMs: number
      readonly code?: string
      readonly detail?: string
      readonly at?: string
    }
  /** A line that the code of a run logged; `level` as in pino, `facts` JSON text. */
  | {
      readonly type: 'task-log'
      readonly runId: RunId
      readonly task: string
      readonly level: number
      readonly line: string
      readonly facts: string | null
    }
  | { readonly type: 'log-lines-dropped'; readonly lines: number }
  | { readonly type: 'schedule-ticked'; readonly schedule: string; readonly runIds: readonly RunId[] }
  | { readonly type: 'schedule-failed'; readonly schedule: string; readonly error: unknown }
  | { readonly type: 'lease-lost'; readonly runId: RunId; readonly task: string }
  | { readonly type: 'runs-released'; readonly runIds: readonly RunId[] }
  /** The runs ended FAILED, because no live replica could serve them within the grace period. */
  | { readonly type: 'runs-unroutable'; readonly runIds: readonly RunId[] }
  /** The database rejected the recovery of this run; the others were recovered. */
  | { readonly type: 'recovery-failed'; readonly runId: RunId; readonly error: unknown }
  /** Runs of a holder that counts as dead by this evidence (`cause`); `reconciled`: this replica itself, which does not execute them. */
  | {
      readonly type: 'runs-recovered'
      readonly holder: string
      /** Null: its row is gone, or it is this replica. */
      readonly holderName: string | null
      readonly hostname: string | null
      readonly cause: StaleCause | 'reconciled'
      /**
       * Time since the holder's last sign of life, its lock or else its heartbeat; null: it never gave one, or it is
       * this replica.
       */
      readonly silentMs: number | null
      readonly runIds: readonly RunId[]
    }
  /** Removed heartbeats of replicas that count as stopped after a long silence. */
  | { readonly type: 'stale-heartbeats-removed'; readonly replicas: readonly string[] }
  | {
      readonly type: 'beat-failed'
      readonly consecutive: number
      readonly error: unknown
      readonly retryInMs: number
    }
  /** Raised once per series of failed heartbeats. The replica continues. */
  | { readonly type: 'heartbeat-alert'; readonly consecutive: number; readonly error: unknown }
  | { readonly type: 'beat-accepted'; readonly tookMs: number }
  /** The first one after `failed` ones in a row. */
  | { readonly type: 'beat-accepted-again'; readonly failed: number }
  /** The replica stopped its runs that others may start, because they may consider it dead. */
  | { readonly type: 'fenced'; readonly runIds: readonly RunId[]; readonly silentMs?: number }
  /** Positive: forward, so the last heartbeats of all replicas look older by this much. */
  | { readonly type: 'database-clock-jumped'; readonly byMs: number }
  | { readonly type: 'process-suspended'; readonly stoppedMs: number; readonly asleepMs: number }
  | { readonly type: 'health-changed'; readonly health: string; readonly cpuPercent: number; readonly memoryMb: number }
  | { readonly type: 'registered-again'; readonly name: string }
  /** Manual SQL or a backup had left them inconsistent. */
  | { readonly type: 'workflows-repaired'; readonly findings: readonly Inconsistency[] }
  | {
      readonly type: 'operation-ended'
      readonly id: string
      readonly kind: string
      readonly askedBy: string
      readonly state: string
      readonly looked: number
      readonly changed: number
    }
  | { readonly type: 'deliveries-sent'; readonly destination: string; readonly reports: number }
  /** Reports were not accepted; they are tried again. */
  | {
      readonly type: 'deliveries-failed'
      readonly destination: string
      readonly reports: number
      readonly error: string
    }
  /** No retry follows: `q deliveries --given-up` lists them. */
  | {
      readonly type: 'deliveries-given-up'
      readonly destination: string
      readonly ids: readonly string[]
      readonly error: string
    }
  /** The sender of a destination could not be opened on this replica. */
  | { readonly type: 'destination-unavailable'; readonly destination: string; readonly error: unknown }
  /** A line that the sender of a destination logged. */
  | {
      readonly type: 'destination-log'
      readonly destination: string
      readonly level: 'info' | 'warn'
      readonly line: string
      readonly facts: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'job-failed'; readonly job: string; readonly error: unknown }
  | { readonly type: 'connection-lost'; readonly purpose: string; readonly error: unknown }
  | { readonly type: 'loop-failed'; readonly loop: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly type: 'settle-failed'; readonly error: unknown; readonly retryInMs: number }
  /** Other replicas see the presence of this one, and wakes can reach it. */
  | { readonly type: 'session-opened' }
  | { readonly type: 'session-lost'; readonly error: unknown }
  /** A pooler that lends connections per transaction: no presence, no wakes. */
  | { readonly type: 'sessions-unavailable' }
  /**
   * The replica stops claiming, or its order was replaced. `runs`: the runs that it waits for, at most 20; `drainMs`: the
   * time to the deadline; null: there is none.
   */
  | {
      readonly type: 'draining' | 'drain-changed'
      readonly by: string
      readonly running: number
      readonly runs: readonly { readonly runId: RunId; readonly task: string }[]
      readonly drainMs: number | null
      readonly onDeadline: OnDeadline
    }
  /** The replica claims again. */
  | { readonly type: 'drain-undone' }
  /** The database requires a newer release of this program: the replica leaves. */
  | { readonly type: 'program-too-old' }
  | { readonly type: 'drain-cut-short'; readonly running: number }
  | { readonly type: 'left-runs-behind'; readonly running: number; readonly tookMs: number }
  | { readonly type: 'drain-step-failed'; readonly error: unknown }
  | { readonly type: 'run-unfinished'; readonly error: unknown }
  | { readonly type: 'drained'; readonly tookMs: number }

export type Observe = (event: RunnerEvent) => void

/** Catches the errors of an observer: they must not end a loop. */
export function neverThrows(observe: Observe): Observe {
  return (event) => {
    try {
      observe(event)
    } catch {
      // the event is lost
    }
  }
}

/** Combines observers, so that an error of one does not affect the others. */
export function observeAll(observers: readonly Observe[]): Observe {
  const each = observers.map(neverThrows)
  return (event) => {
    for (const observe of each) observe(event)
  }
}
