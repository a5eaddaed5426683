/**
 * `ctx.log`: sends the log lines of a run's code to the main thread. Each line is truncated to a size that a page can
 * show and loses its secrets, and lines beyond a limit per run are dropped; the last line then says so. Nothing here throws.
 */
import { types } from 'node:util'
import { repairJson, storableText } from '@q/schema/json'
import type { LogMethod, TaskLog } from '@q/task'
import { redact, redactJson } from '../output/redact.ts'
import type { TaskLine } from '../protocol/messages.ts'
import { ownClocks } from '../protocol/own-clocks.ts'

/** As pino counts. */
const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const

const lineCharsMax = 4_000
const factLimits = { bytesMax: 8_000, depthMax: 16, bigintAsText: true }
const linesMax = 10_000

export function createTaskLog(send: (line: TaskLine) => void): TaskLog {
  let lineNo = 0
  const write = (level: keyof typeof levels, sentence: string, facts: string | null) => {
    if (lineNo >= linesMax) return
    lineNo++
    const last = lineNo === linesMax
    const line = last ? `More than ${linesMax} lines: the rest is not kept.` : sentence
    send({ lineNo, level: levels[last ? 'warn' : level], line, facts: last ? null : facts, atMs: ownClocks.wallMs() })
  }
  const lineOf =
    (level: keyof typeof levels): LogMethod =>
    (first: unknown, sentence?: string) => {
      // An error, or any other value that JavaScript code passes: its text is the sentence.
      if (typeof first !== 'object' || first === null) write(level, cut(first), null)
      else if (types.isNativeError(first)) write(level, cut(sentence ?? first), factsText({ error: first }))
      else write(level, cut(sentence ?? ''), factsText(first))
    }
  return { debug: lineOf('debug'), info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') }
}

function cut(sentence: unknown): string {
  try {
    const text = String(sentence)
    return storableText(redact(text.length <= lineCharsMax ? text : `${text.slice(0, lineCharsMax)}…`))
  } catch {
    return 'A line that cannot be written as text.'
  }
}

/** The facts as JSON text, or why there is none. Errors among them are written as text: as JSON they would be empty. */
function factsText(facts: object): string {
  const repaired = repairJson(readable(facts), factLimits)
  switch (repaired.kind) {
    case 'json':
      return redactJson(repaired.text)
    case 'not-json':
      return JSON.stringify({ leftOut: `${repaired.problem.pointer} ${repaired.problem.detail}` })
    case 'too-large':
      return JSON.stringify({ leftOut: `more than ${factLimits.bytesMax} bytes of facts` })
  }
}

function readable(facts: object): unknown {
  try {
    const entries = Object.entries(facts) as [string, unknown][]
    return Object.fromEntries(
      entries.map(([key, value]) => [key, value instanceof Error ? (value.stack ?? value.message) : value]),
    )
  } catch {
    return { leftOut: 'facts that cannot be read' }
  }
}
