/**
 * What user code returned or threw, as data the database can hold. Done in the worker, so that a large result does not
 * stall the main thread. Nothing here throws: an end must not be lost because its text is strange.
 */
import type { RunReport } from '../protocol.ts'

const resultBytesMax = 1_048_576
const detailCharsMax = 10_000

export function reportReturn(value: unknown): RunReport {
  let text: string
  try {
    text = JSON.stringify(value, storable) ?? 'null'
  } catch (error) {
    return {
      ended: 'failed',
      code: 'INVALID_RESULT',
      detail: `The result cannot be written as JSON: ${messageOf(error)}`,
    }
  }
  const bytes = Buffer.byteLength(text)
  if (bytes <= resultBytesMax) return { ended: 'returned', result: text }
  return {
    ended: 'failed',
    code: 'RESULT_TOO_LARGE',
    detail: `The result has ${bytes} bytes as JSON; at most ${resultBytesMax} are stored. Store it elsewhere and return where.`,
  }
}

export function reportThrow(error: unknown): RunReport {
  const stack = error instanceof Error ? error.stack : undefined
  return {
    ended: 'failed',
    code: 'TASK_ERROR',
    detail: clean(messageOf(error)),
    ...(stack === undefined ? {} : { stack: clean(stack) }),
  }
}

/** jsonb holds neither NUL nor half surrogate pairs. */
function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? wellFormed(value) : value
}

function clean(text: string): string {
  return wellFormed(text.slice(0, detailCharsMax))
}

function wellFormed(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error
      ? `${error.name}: ${error.message}`
      : `Something that is not an Error was thrown: ${String(error)}`
  } catch {
    return 'Something was thrown that cannot even be written as text.'
  }
}
