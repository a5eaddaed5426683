/**
 * Converts a result or error of user code to data that the database can store. The worker does this, so that a large
 * result does not stall the main thread. Nothing here throws: an outcome must not be lost because of an unusual value.
 */
import { inspect } from 'node:util'
import { causesOf, causesText, jsonLimits, problemsText, repairJson, storableText, type Causes } from '@q/schema/json'
import { outcomeOf, type ThrownOutcome } from '@q/task'
import { redact, redactJson } from '../output/redact.ts'
import type { RunReport } from '../protocol/messages.ts'

const detailCharsMax = 10_000

export function reportReturn(value: unknown): RunReport {
  const result = repairJson(value)
  switch (result.kind) {
    case 'json':
      return { ended: 'returned', result: result.text, repaired: result.repaired }
    case 'not-json':
      return {
        ended: 'failed',
        code: 'INVALID_RESULT',
        again: 'never',
        detail: `The result cannot be written as JSON: ${problemsText([result.problem])}.`,
      }
    case 'too-large':
      return {
        ended: 'failed',
        code: 'RESULT_TOO_LARGE',
        again: 'never',
        detail: `The result has at least ${result.bytes} bytes as JSON; at most ${jsonLimits.bytesMax} are stored. Store it elsewhere and return where.`,
      }
  }
}

export function reportThrow(error: unknown): RunReport {
  const outcome = outcomeOf(error)
  if (outcome?.kind === 'snooze') return { ended: 'snoozed', afterMs: outcome.afterMs }
  const detail =
    readText(() => (error instanceof Error ? `${error.name}: ${error.message}` : notAnError(error))) ??
    'Something was thrown that cannot even be written as text.'
  const stack = readText(() => (error instanceof Error ? error.stack : undefined))
  const causes = causesOf(error)
  return {
    ended: 'failed',
    code: 'TASK_ERROR',
    detail: detailText(`${detail}${causesText(causes)}`),
    ...(stack === undefined ? {} : { stack }),
    ...identityOf(error, outcome),
    ...withoutSecrets(causes),
    ...againOf(outcome),
  }
}

type Failed = Extract<RunReport, { ended: 'failed' }>

/** The parts of an error, in addition to its text, by which errors of the same cause are recognised. */
function identityOf(error: unknown, outcome: ThrownOutcome | undefined): Pick<Failed, 'errorName' | 'fingerprint'> {
  const errorName = readText(() => (error instanceof Error ? classOf(error) : undefined))
  const fingerprint = readText(() => (outcome?.kind === 'fail' ? outcome.fingerprint : undefined))
  return {
    ...(errorName === undefined ? {} : { errorName }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  }
}

/** Many classes do not set a name of their own, and would all be `Error`. */
function classOf(error: Error): unknown {
  return error.name === 'Error' ? error.constructor.name : error.name
}

function againOf(outcome: ThrownOutcome | undefined): Pick<Failed, 'again'> {
  if (outcome?.kind === 'fail') return { again: 'never' }
  if (outcome?.kind === 'retry' && outcome.afterMs !== undefined) return { again: { afterMs: outcome.afterMs } }
  return {}
}

function notAnError(thrown: unknown): string {
  return `Something that is not an Error was thrown: ${thrownText(thrown)}`
}

/** A plain object has no text of its own; its members say what it is. */
function thrownText(thrown: unknown): string {
  const text = String(thrown)
  return text === '[object Object]' ? inspect(thrown, { breakLength: Number.POSITIVE_INFINITY }) : text
}

/** Text of user code, without secrets, repaired so that it can be stored as the detail of an outcome. */
export function detailText(text: string): string {
  return storableText(redact(text.slice(0, detailCharsMax)))
}

function withoutSecrets(causes: Causes): Causes {
  return JSON.parse(redactJson(JSON.stringify(causes))) as Causes
}

/** Reads a property of an error whose getter may throw or return something other than text. */
function readText(read: () => unknown): string | undefined {
  try {
    const text = read()
    return typeof text === 'string' ? detailText(text) : undefined
  } catch {
    return undefined
  }
}
