/**
 * The log: pino, pretty on a terminal and JSON otherwise. The only file that knows pino; log-lines.ts has the wording.
 * A log line is a fixed sentence with facts beside it. Passwords are removed from every line, even inside quoted texts.
 */
import { pino, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { printable } from '@q/schema'
import { errorMessage } from '../output/error-message.ts'
import type { Observe, RunnerEvent } from '../main/events.ts'
import { redact } from '../output/redact.ts'
import { fullDisk } from './full-disk.ts'
import { failedRun, eventLines, type LineLevel } from './log-lines.ts'
import { createRepeatFilter } from './suppress-repeats.ts'
import { createSuccesses } from './successes.ts'

export type { Logger }

/** Writes whole lines to standard output, which the program has bounded (bounded-output.ts). */
export function createLog(options: { level: string; terminal: boolean }): Logger {
  const words = options.terminal ? pretty : (line: string) => line
  const stream = { write: (line: string) => void process.stdout.write(words(line)) }
  return pino({ level: options.level, serializers: { error: factsOf }, hooks: { streamWrite: redact } }, stream)
}

const prettyLine = prettyFactory({ ignore: 'pid,hostname,node', translateTime: 'HH:MM:ss.l', singleLine: true })

function pretty(line: string): string {
  return prettyLine(JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? printable(value) : value)))
}

type Lines = Pick<Logger, LineLevel>

export function logObserver(log: Logger, nowMs: () => number = () => performance.now()): Observe {
  const repeats = createRepeatFilter(nowMs)
  const debug = log.debug.bind(log)
  const asDebug: Lines = { debug, info: debug, warn: debug, error: debug }
  const successes = createSuccesses((runs, tasks) => log.info({ runs, tasks }, 'runs ended'))
  return (event) => {
    if (event.type === 'run-started' && !log.isLevelEnabled('debug')) return
    if (event.type === 'run-ended' && event.status === 'SUCCEEDED' && !successes.add(event.task))
      return log.isLevelEnabled('debug') ? write(asDebug, event, {}) : undefined
    const suppressed = repeats(event)
    write(suppressed === undefined ? asDebug : log, event, suppressed ? { suppressed } : {})
  }
}

function write(log: Lines, event: RunnerEvent, suppressed: { suppressed?: number }): void {
  if (event.type === 'task-log') return writeTaskLine(log, event)
  if (event.type === 'destination-log')
    return log[event.level]({ destination: event.destination, ...event.facts }, event.line)
  if (event.type === 'draining') return writeDrain(log, event)
  const { type, ...rest } = event
  const facts = { ...rest, ...suppressed }
  const full = 'error' in event ? fullDisk(event.error) : undefined
  if (full !== undefined) return log.error(facts, `no disk space left ${full}: free some; the replica retries`)
  const [level, sentence] = 'status' in event && event.status === 'FAILED' ? failedRun : eventLines[type]
  log[level](facts, sentence)
}

const taskLevels: Readonly<Record<number, keyof Lines>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }

/** Writes a line of a task with the level of the task. */
function writeTaskLine(
  log: Lines,
  { runId, task, level, line, facts }: Extract<RunnerEvent, { type: 'task-log' }>,
): void {
  const entry = { runId, task, ...(facts === null ? {} : { facts: JSON.parse(facts) as unknown }) }
  log[taskLevels[level] ?? 'info'](entry, line)
}

const waitedForMax = 10

/** Names the first runs that the drain waits for. */
function writeDrain(log: Lines, event: Extract<RunnerEvent, { readonly runs: unknown }>): void {
  const { by, running, runs, drainMs, onDeadline } = event
  const waitsFor = runs.slice(0, waitedForMax).map(({ runId, task }) => `${task} ${runId}`)
  const facts = { by, drainMs, onDeadline, running, waitsFor }
  if (running === 0) return log.info(facts, 'draining: no new runs')
  const again = by === 'itself' ? '; Ctrl-C or SIGTERM again stops them now' : ''
  log.info(facts, `draining: waiting for runs to end${again}`)
}

/** The parts of an error that fit into a line. */
function factsOf(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const code: unknown = Reflect.get(error, 'code')
  return { name: error.name, code, message: errorMessage(error) }
}
