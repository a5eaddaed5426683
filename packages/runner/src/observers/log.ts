/**
 * The log: pino, pretty on a terminal and JSON otherwise. The only file that knows pino and the wording of lines.
 * A log line is a fixed sentence with facts beside it; none has a password in it, whoever wrote what it quotes.
 */
import { pino, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { printable } from '@q/schema'
import { errorWords } from '../error-words.ts'
import type { Observe, RunnerEvent } from '../main/events.ts'
import { scrub } from '../scrub.ts'
import { fullDisk } from './full-disk.ts'
import { createRepeats } from './repeats.ts'
import { createSuccesses } from './successes.ts'

export type { Logger }

/** Writes whole lines to standard output, which the program has bounded (bounded-output.ts). */
export function createLog(options: { level: string; terminal: boolean }): Logger {
  const words = options.terminal ? pretty : (line: string) => line
  const stream = { write: (line: string) => void process.stdout.write(words(line)) }
  return pino({ level: options.level, serializers: { error: factsOf }, hooks: { streamWrite: scrub } }, stream)
}

const prettyLine = prettyFactory({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', singleLine: true })

function pretty(line: string): string {
  return prettyLine(JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? printable(value) : value)))
}

type Lines = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

export function logObserver(log: Logger, nowMs: () => number = () => performance.now()): Observe {
  const repeats = createRepeats(nowMs)
  const debug = log.debug.bind(log)
  const heldBack: Lines = { debug, info: debug, warn: debug, error: debug }
  const successes = createSuccesses((runs, tasks) => log.info({ runs, tasks }, 'runs ended'))
  return (event) => {
    if (event.type === 'run-started' && !log.isLevelEnabled('debug')) return
    if (event.type === 'run-ended' && event.status === 'SUCCEEDED' && !successes.add(event.task))
      return log.isLevelEnabled('debug') ? write(heldBack, event, {}) : undefined
    const alike = repeats(event)
    write(alike === undefined ? heldBack : log, event, alike ? { alike } : {})
  }
}

function write(log: Lines, event: RunnerEvent, alike: { alike?: number }): void {
  const { type, ...rest } = event
  const facts = { ...rest, ...alike }
  const full = 'error' in event ? fullDisk(event.error) : undefined
  if (full !== undefined) return log.error(facts, `no disk space left ${full}: free some; the replica retries`)
  switch (type) {
    case 'run-started':
      return log.debug(facts, 'run started')
    case 'run-ended':
      return 'status' in event && event.status === 'FAILED'
        ? log.warn(facts, 'run failed')
        : log.info(facts, 'run ended')
    case 'run-retried':
      return log.info(facts, 'run will be started again')
    case 'task-log':
      return 'line' in event ? writeTaskLine(log, event) : undefined
    case 'log-lines-dropped':
      return log.warn(facts, 'lines of task logs were dropped: the database took none for too long')
    case 'schedule-ticked':
      return log.debug(facts, 'a schedule ticked')
    case 'schedule-failed':
      return log.error(facts, 'a schedule could not be enqueued and will be tried again; the others go on')
    case 'lease-lost':
      return log.warn(facts, 'lease lost: what this run returned does not count')
    case 'runs-unroutable':
      return log.warn(facts, 'failed runs that no live replica could serve')
    case 'runs-released':
      return log.info(facts, 'runs given back')
    case 'runs-recovered':
      return log.warn(facts, 'recovered the runs of a replica that stopped responding')
    case 'loop-failed':
      return log.error(facts, 'a round failed and will be tried again')
    case 'settle-failed':
      return log.error(facts, 'an outcome could not be written and will be tried again')
    case 'session-opened':
      return log.debug(facts, 'the session for presence and wakes is open')
    case 'session-lost':
      return log.warn(facts, 'the session for presence and wakes was lost; polling goes on')
    case 'sessions-unavailable':
      return log.warn(
        facts,
        'a pooler lends connections per transaction: no presence and no wakes; deaths are noticed by heartbeats alone. Set DATABASE_URL_DIRECT',
      )
    case 'recovery-failed':
      return log.error(facts, 'a run of somebody who is gone cannot be recovered: the database refuses it')
    case 'beat-failed':
      return log.warn(facts, 'a heartbeat failed and will be tried again')
    case 'beat-accepted-again':
      return log.info(facts, 'the database takes heartbeats again')
    case 'fenced':
      return log.error(facts, 'stopped runs that others may start: this replica may be taken for dead')
    case 'database-clock-jumped':
      return log.warn(facts, "the database's clock jumped: nobody is judged by it for a while")
    case 'clock-jumped':
      return log.warn(facts, 'this process was stopped for a while')
    case 'health-changed':
      return log.warn(facts, 'health changed')
    case 'introduced-again':
      return log.warn(facts, 'nobody knew this replica any more; it introduced itself again')
    case 'workflows-repaired':
      return log.warn(facts, 'workflows that contradicted themselves were healed')
    case 'job-failed':
      return log.error(facts, 'a job of housekeeping failed; the others go on')
    case 'connection-lost':
      return log.warn(facts, 'a connection was lost and will be replaced')
    case 'draining':
      return 'runs' in event ? writeDrain(log, event) : undefined
    case 'drain-changed':
      return log.info(facts, 'drain order replaced')
    case 'drain-undone':
      return log.info(facts, 'drain undone; claiming again')
    case 'program-too-old':
      return log.error(facts, 'the database demands a newer release of this program; draining, then exit code 57')
    case 'drain-cut-short':
      return log.warn(facts, 'stopping runs that are still going')
    case 'left-runs-behind':
      return log.error(facts, 'left with runs that could not be stopped or settled; others will recover them')
    case 'drain-step-failed':
      return log.error(facts, 'a step of leaving failed; going on')
    case 'run-unfinished':
      return log.error(facts, 'a run was left without an outcome; this is a mistake of ours')
    case 'drained':
      return log.info(facts, 'drained')
  }
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

/** Of an error what a line has room for. */
function factsOf(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const code: unknown = Reflect.get(error, 'code')
  return { name: error.name, code, message: errorWords(error) }
}
