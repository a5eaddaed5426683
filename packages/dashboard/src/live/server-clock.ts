/** The time of the server: ages are counted by its clock, never by the browser's, which may be wrong by hours. */
let aheadMs = 0

/** Milliseconds since the epoch. */
export function serverNow(): number {
  return Date.now() + aheadMs
}

/** Takes a time that the server has just sent. A delay on the way only makes the page think that it is a little earlier. */
export function setServerTime(now: string): void {
  const at = Date.parse(now)
  if (Number.isFinite(at)) aheadMs = at - Date.now()
}
