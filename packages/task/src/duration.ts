/** A duration: `500ms`, `30s`, `5m`, `1.5h`, `2d`, or a number of milliseconds. */
import { TaskDefinitionError } from './definition-error.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd'
export type Duration = number | `${number}${Unit}`

const unitMs: Record<Unit, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const durationMsMax = 3_650 * unitMs.d

/** The duration in whole milliseconds; throws DURATION_INVALID if it is not one. */
export function durationMs(duration: number | string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration).trim())
  const ms = typeof duration === 'number' ? duration : Number(found?.[1]) * unitMs[found?.[2] as Unit]
  if (ms >= 0 && ms <= durationMsMax) return Math.round(ms)
  throw new TaskDefinitionError({
    code: 'DURATION_INVALID',
    what: `"${duration}" is not a duration.`,
    why: 'A duration is a number with a unit (ms, s, m, h, d), from 0 to ten years.',
    fix: 'Write it like 500ms, 30s, 5m, 1.5h or 2d.',
  })
}
