/** What a task's code said and asked for while it ran on its own, written down; every wish is granted. */
import type { Hear, TaskLine, WorkerPulse } from '@q/runner/inline'
import { RunAborted } from '@q/task'

export interface Recorded {
  /** Each heartbeat() and progress(), in order. */
  readonly heartbeats: readonly Sign[]
  readonly logs: readonly LoggedLine[]
  /** What was stored at each checkpoint() and after each step of once(), in order. */
  readonly checkpoints: readonly Saved[]
  /** Runs that the code asked for. */
  readonly enqueued: readonly ChildRun[]
}

export interface Sign {
  readonly progress: number | undefined
  readonly note: string | undefined
}

export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly line: string
  readonly facts: unknown
}

export interface Saved {
  readonly state?: unknown
  /** What once() remembers, by the names of the steps. */
  readonly once: Readonly<Record<string, unknown>>
}

export interface ChildRun {
  readonly task: string
  readonly payload: unknown
  readonly delayMs: number | null
  readonly priority: number | null
}

export interface Recorder {
  readonly recorded: Recorded
  readonly hear: Hear
  openPulse(): WorkerPulse
}

/** `signal`: the run is cancelled. */
export function createRecorder(signal: AbortSignal): Recorder {
  const heartbeats: Sign[] = []
  const logs: LoggedLine[] = []
  const checkpoints: Saved[] = []
  const enqueued: ChildRun[] = []
  const stopped = new AbortController()
  const stop = () => stopped.abort(aborted())
  return {
    recorded: { heartbeats, logs, checkpoints, enqueued },
    hear(said, reply) {
      if (said.kind === 'log') logs.push(loggedLine(said.line))
      if (said.kind !== 'ask') return
      const { id, ask } = said
      if (ask.verb === 'checkpoint') {
        checkpoints.push(JSON.parse(ask.state) as Saved)
        return reply({ id, ok: true, value: '' })
      }
      const { task, payload, delayMs, priority } = ask
      enqueued.push({ task, payload: JSON.parse(payload), delayMs, priority })
      reply({ id, ok: true, value: String(enqueued.length) })
    },
    openPulse() {
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      return {
        signal: stopped.signal,
        sign: () => {},
        stopReason: () => (signal.aborted ? 'cancelled' : undefined),
        heartbeat(progress, note) {
          heartbeats.push({ progress, note })
          if (signal.aborted) throw aborted()
        },
        [Symbol.dispose]: () => signal.removeEventListener('abort', stop),
      }
    },
  }
}

function aborted(): RunAborted {
  return new RunAborted('This run was stopped: cancelled.')
}

/** As pino counts. */
const levels: Readonly<Record<number, LoggedLine['level']>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }

function loggedLine({ level, line, facts }: TaskLine): LoggedLine {
  return { level: levels[level] ?? 'info', line, facts: facts === null ? undefined : JSON.parse(facts) }
}
