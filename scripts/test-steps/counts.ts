export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export const nothing: Counts = { passed: 0, failed: 0, skipped: 0 }
export const onePassed: Counts = { ...nothing, passed: 1 }
export const oneFailed: Counts = { ...nothing, failed: 1 }

export function add(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
}

export function line({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
}
