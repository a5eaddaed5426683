/** The trace context that is stored with a run: a W3C `traceparent`, whichever propagators a program uses. */
export interface RemoteSpan {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

const shape = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

export function traceparentOf({ traceId, spanId, traceFlags }: RemoteSpan): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Undefined: the text is not a `traceparent`. */
export function remoteSpanOf(text: string | null | undefined): RemoteSpan | undefined {
  const [, traceId, spanId, flags] = shape.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}
