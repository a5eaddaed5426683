/** A task context that records heartbeats, logs, checkpoints and enqueues, and accepts all of them. */
import type { OnMessage, TaskLine, RunSlot } from '@q/runner/inline'
import { RunAborted } from '@q/task'

export interface Recording {
  /** Each heartbeat() and progress(), in order. */
  readonly heartbeats: readonly RecordedHeartbeat[]
  readonly logs: readonly RecordedLine[]
  /** The stored state at each checkpoint() and after each once(), in order. */
  readonly checkpoints: readonly SavedCheckpoint[]
  /** Runs that the code enqueued. */
  readonly enqueued: readonly ChildRun[]
}

export interface RecordedHeartbeat {
  readonly progress: number | undefined
  readonly note: string | undefined
}

export interface RecordedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly line: string
  readonly facts: unknown
}

export interface SavedCheckpoint {
  readonly state?: unknown
  /** The stored results of once(), by step name. */
  readonly once: Readonly<Record<string, unknown>>
}

export interface ChildRun {
  readonly task: string
  readonly payload: unknown
  readonly delayMs: number | null
  readonly priority: number | null
}

export interface Recorder {
  readonly recorded: Recording
  readonly onMessage: OnMessage
  openSlot(): RunSlot
}

/** `signal` cancels the run. */
export function createRecorder(signal: AbortSignal): Recorder {
  const heartbeats: RecordedHeartbeat[] = []
  const logs: RecordedLine[] = []
  const checkpoints: SavedCheckpoint[] = []
  const enqueued: ChildRun[] = []
  const stopped = new AbortController()
  const stop = () => stopped.abort(aborted())
  return {
    recorded: { heartbeats, logs, checkpoints, enqueued },
    onMessage(message, reply) {
      if (message.kind === 'log') logs.push(loggedLine(message.line))
      if (message.kind !== 'request') return
      const { id, request } = message
      if (request.verb === 'checkpoint') {
        checkpoints.push(JSON.parse(request.state) as SavedCheckpoint)
        return reply({ id, ok: true, value: '' })
      }
      const { task, payload, delayMs, priority } = request
      enqueued.push({ task, payload: JSON.parse(payload), delayMs, priority })
      reply({ id, ok: true, value: String(enqueued.length) })
    },
    openSlot() {
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

/** pino's numbers of the log levels. */
const levels: Readonly<Record<number, RecordedLine['level']>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }

function loggedLine({ level, line, facts }: TaskLine): RecordedLine {
  return { level: levels[level] ?? 'info', line, facts: facts === null ? undefined : JSON.parse(facts) }
}
