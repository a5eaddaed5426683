/** Limits the nesting of JSON text from outside before anything parses it. */
import { jsonLimits } from '@q/schema/json'
import { isDeeperThan } from '../json-depth.ts'
import { wrongParameters } from './refusal.ts'

/** Refuses text that is nested deeper than values may be stored, or than `levelsMax`. */
export function requireShallow(text: string, at: string, levelsMax: number = jsonLimits.depthMax): void {
  if (isDeeperThan(text, levelsMax)) throw wrongParameters([{ at, problem: `is nested deeper than ${levelsMax}` }])
}
