/** `idempotencyKey`: for a day, every enqueue of the task with the same key returns the same run. */
import { createHash } from 'node:crypto'
import { ExplainedError } from '@q/schema'
import type { NewRun } from '@q/store'

const dayMs = 86_400_000
const charsMax = 255

/** A throttle whose key cannot collide with a payload's: those are plain strings, or `json:` followed by JSON. */
export function idempotencyThrottle(key: string | undefined): Pick<NewRun, 'throttle'> {
  if (key === undefined) return {}
  if (typeof key !== 'string' || key === '' || key.length > charsMax) throw wrongKey()
  const hash = createHash('sha256').update(key).digest('base64url')
  return { throttle: { key: `json:idempotency:${hash}`, forMs: dayMs } }
}

function wrongKey(): ExplainedError {
  return new ExplainedError({
    code: 'RUN_OPTION_INVALID',
    what: 'An option of the run is invalid; nothing was enqueued.',
    why: `idempotencyKey: must be text of 1 to ${charsMax} characters.`,
    fix: 'Correct it, or leave it out.',
  })
}
