/** One run: its members, timeline, attempts and last log lines. Pure. */
import { hidden } from '@q/server/secrets'
import type { LoggedLine, RunAttempt, RunDetail, Why } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, long, moment, shortDuration } from '../words/ages.ts'
import { plural } from '../words/counts.ts'
import { runStateText } from '../words/states.ts'
import { factLines } from '../words/facts.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'
import { logLineTexts } from './logs.ts'
import { timelineLines } from './timeline.ts'
import { whySentence } from './why.ts'
import { wrapped } from '../words/wrap.ts'

export interface RunScreen {
  readonly detail: RunDetail
  readonly logs: readonly LoggedLine[]
}

export function runScreen(look: Look, { detail, logs }: RunScreen, now: Date = new Date()): string {
  const { run, attempts } = detail
  const parts = [
    heading(look, detail, now),
    facts(look, detail, now),
    ...(detail.why === null || detail.why === undefined || run.status === 'RUNNING'
      ? []
      : [`\n${styled(look, 'bold', 'Why it is not running')}`, ...whyLines(look, detail.why, now)]),
    `\n${styled(look, 'bold', 'Timeline')}`,
    ...timelineLines(look, detail),
    ...(attempts.length === 0 ? [] : [`\n${styled(look, 'bold', 'Attempts')}`, attemptsTable(look, attempts, now)]),
    ...errorLines(look, run.result, run.status),
    ...(logs.length === 0 ? [] : [`\n${styled(look, 'bold', 'Last log lines')}`, ...logLineTexts(look, logs)]),
    ...valueLines(look, 'Payload', detail.payloadText),
    ...(run.status === 'SUCCEEDED' ? valueLines(look, 'Result', detail.resultText) : []),
    ...valueLines(look, 'Checkpoint', detail.checkpointText),
    ...hiddenLines(look, detail),
  ]
  return parts.join('\n')
}

function whyLines(look: Look, why: Why, now: Date): string[] {
  const text = why.reasons.map((reason) => whySentence(reason, now)).join(' ')
  return wrapped(text, look.columns - 2).map((line) => `  ${line}`)
}

function heading(look: Look, { run, beats }: RunDetail, now: Date): string {
  const { id, task, status, waitingFor, cancelRequestedAt, startedAt, finishedAt } = run
  const stopping = status === 'RUNNING' && cancelRequestedAt !== null
  const progress = beats.findLast((beat) => beat.progress !== null)?.progress
  const took =
    startedAt === null
      ? ''
      : `, ${finishedAt === null ? 'for' : 'took'} ${long((finishedAt ?? now).getTime() - startedAt.getTime())}`
  const percent =
    progress === undefined || progress === null || finishedAt !== null ? '' : `, ${Math.round(progress * 100)} %`
  return `${styled(look, 'bold', `run ${id}`)}  ${task}  ${runStateText(look, { status, waitingFor, stopping })}${took}${percent}`
}

function facts(look: Look, detail: RunDetail, now: Date): string {
  const { run, replicaName, waitMs, parent, scheduleTick, again } = detail
  const lines: (readonly [string, string])[] = [
    [
      'where',
      [
        `queue ${run.queue || '-'}`,
        ...(run.group === '' ? [] : [`group ${run.group}`]),
        `priority ${run.priority}`,
      ].join(', '),
    ],
    [
      'enqueued',
      `${moment(run.createdAt, now)} (${ago(run.createdAt, now)})${waitMs === null ? '' : `, waited ${shortDuration(waitMs)}`}`,
    ],
    ...(run.replicaId === null ? [] : [['node', `${replicaName ?? run.replicaId} (${run.replicaId})`] as const]),
    [
      'attempt',
      `${run.crashCount === 0 ? `${run.attempt} of ${run.maxAttempts}` : `${run.attempt}, ${run.crashCount} crashed`}${run.epoch === 1 ? '' : `, epoch ${run.epoch}`}; on crash: ${run.onCrash ?? 'as the task says'}`,
    ],
    ...(run.concurrency === null ? [] : [['key', `${run.concurrency.key} (scope ${run.concurrency.scope})`] as const]),
    ...(run.uniqueKey === null ? [] : [['unique', run.uniqueKey] as const]),
    ...(run.workflowId === null ? [] : [['workflow', run.workflowId] as const]),
    ...(parent === null || parent === undefined ? [] : [['parent', `run ${parent.runId} of ${parent.task}`] as const]),
    ...(scheduleTick === null || scheduleTick === undefined
      ? []
      : [['schedule', `${scheduleTick.schedule}, tick ${moment(scheduleTick.tick, now)}`] as const]),
    ...(again?.of == null ? [] : [['again of', `run ${again.of}`] as const]),
    ...(run.expiresAt === null
      ? []
      : [['expires', `${moment(run.expiresAt, now)} (${ago(run.expiresAt, now)})`] as const]),
  ]
  return factLines(look, lines).join('\n')
}

function attemptsTable(look: Look, attempts: readonly RunAttempt[], now: Date): string {
  return table<RunAttempt>(
    look,
    [
      { heading: 'EPOCH', cell: ({ epoch }) => String(epoch), align: 'right', drop: 5 },
      { heading: 'ATTEMPT', cell: ({ attempt }) => String(attempt), align: 'right' },
      {
        heading: 'OUTCOME',
        cell: ({ outcome }) => (outcome === 'failed' || outcome === 'crashed' ? styled(look, 'red', outcome) : outcome),
      },
      {
        heading: 'TOOK',
        cell: ({ startedAt, endedAt }) =>
          startedAt === null ? '-' : shortDuration((endedAt ?? now).getTime() - startedAt.getTime()),
        align: 'right',
      },
      { heading: 'STARTED', cell: ({ startedAt }) => (startedAt === null ? '-' : moment(startedAt, now)), drop: 2 },
      { heading: 'NODE', cell: ({ replicaName, replicaId }) => replicaName ?? replicaId, shrink: 8, drop: 3 },
      { heading: 'PID', cell: ({ pid }) => (pid === null ? '' : String(pid)), align: 'right', drop: 6 },
      { heading: 'CODE', cell: ({ code }) => code ?? '' },
      { heading: 'DETAIL', cell: ({ detail }) => detail ?? '', shrink: 12, drop: 1 },
    ],
    attempts,
  )
}

/** Frames of the user's own code come first, because users can correct them. */
function errorLines(look: Look, result: unknown, status: string): string[] {
  if (status === 'SUCCEEDED' || typeof result !== 'object' || result === null) return []
  const member = (name: string) => {
    const value: unknown = Reflect.get(result, name)
    return typeof value === 'string' ? value : undefined
  }
  const code = member('code')
  if (code === undefined) return []
  const stack = member('stack') ?? ''
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const own = frames.filter((line) => !/node_modules|\(node:|at node:/.test(line))
  const shown = [...own, ...frames.filter((line) => !own.includes(line))].slice(0, framesMax)
  return [
    `\n${styled(look, 'bold', 'Error')}`,
    `  ${styled(look, 'red', code)}  ${member('detail') ?? member('message') ?? ''}`,
    // Uncut: a frame ends with its file and line.
    ...shown.map((line) => (own.includes(line) ? `    ${line.trim()}` : styled(look, 'dim', `    ${line.trim()}`))),
  ]
}

const framesMax = 8
const valueCharactersMax = 2_000

/** The text as it is stored: numbers keep all their digits. */
function valueLines(look: Look, title: string, text: string | null | undefined): string[] {
  if (text === null || text === undefined || text === 'null' || text === '{}') return []
  const isLong = text.length > valueCharactersMax
  const shown = isLong
    ? `${text.slice(0, valueCharactersMax)} … (${text.length} characters; --json prints all of it)`
    : text
  return [`\n${styled(look, 'bold', title)}`, `  ${shown}`]
}

function hiddenLines(look: Look, { run, payloadText, resultText, checkpointText }: RunDetail): string[] {
  const values = [payloadText, resultText, checkpointText].join(' ').split(`"${hidden}"`).length - 1
  if (values === 0) return []
  return ['', styled(look, 'dim', `${plural(values, 'value')} hidden: q show ${run.id} --reveal`)]
}
