/** Bars. Widths are SVG attributes, because the content security policy of the page forbids style attributes. */
import type { ReactNode } from 'react'
import { percent } from '../words/numbers.ts'
import { seconds } from '../words/durations.ts'

interface MeterProps {
  readonly value: number
  readonly tone: string
  /** A mark at the half: from there a heartbeat is late. */
  readonly half?: boolean
}

export function Meter({ value, tone, half = false }: MeterProps): ReactNode {
  return (
    <svg className={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="6" />
      <rect className="f" width={clamp(value)} height="6" />
      {half ? <rect className="h" x="49.2" width="1.6" height="6" /> : null}
    </svg>
  )
}

/** Progress of a run, from 0 to 1, with what it says about itself. */
export function Progress(props: {
  readonly value: number | null
  readonly tone: string
  readonly children?: ReactNode
}): ReactNode {
  const { value, tone, children } = props
  return (
    <span className="withbar">
      {value === null ? null : (
        <>
          <Meter value={value * 100} tone={tone} />
          <span className="pc">{percent(value * 100)}</span>
        </>
      )}
      {children === undefined || children === null ? null : <span className="cut">{children}</span>}
    </span>
  )
}

/** The age of the last heartbeat against the node's own threshold: amber from the half, red when it is stale. */
export function BeatAge({ ageMs, staleMs }: { readonly ageMs: number; readonly staleMs: number }): ReactNode {
  const part = (ageMs / staleMs) * 100
  const tone = part >= 100 ? 'lost' : part >= 50 ? 'draining' : 'alive'
  const stale = `${seconds(staleMs)}\u00a0s`
  return (
    <span className="withbar" title={`Stale after ${stale} without a heartbeat`}>
      <Meter value={part} tone={tone} half={part < 100} />
      <span className={part >= 100 ? 'nw tn bad' : 'nw tn'}>
        {part >= 100 ? 'stale ' : ''}
        {seconds(ageMs)}
        <span className={part >= 100 ? '' : 'mute'}> / {stale}</span>
      </span>
    </span>
  )
}

/** A full-width bar with a spoken value. */
export function Bar({
  value,
  label,
  tone,
  mark,
}: {
  readonly value: number
  readonly label: string
  readonly tone: 'running' | 'stopping'
  readonly mark?: number | null
}): ReactNode {
  return (
    <svg
      className={`bar ${tone}`}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(value)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <rect width="100" height="8" />
      <rect className="f" width={clamp(value)} height="8" />
      {mark === undefined || mark === null ? null : <rect className="ck" x={mark} width=".25" height="8" />}
    </svg>
  )
}

function clamp(value: number): number {
  return Math.min(100, Math.max(0, value))
}
