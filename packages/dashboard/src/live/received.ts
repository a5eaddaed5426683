/**
 * Ages that the server computed grow on the page: an object remembers when it was first seen, and its age is counted from there.
 */
import { serverNow } from './server-clock.ts'

const seenAt = new WeakMap<object, number>()

/** `ageMs` as of the moment in which `object` arrived, counted on to now. */
export function growing(object: object, ageMs: number, now: number): number {
  const seen = seenAt.get(object) ?? serverNow()
  seenAt.set(object, seen)
  return ageMs + Math.max(0, now - seen)
}
