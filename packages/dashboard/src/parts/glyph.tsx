/** Glyphs of 12 units, drawn instead of typed: the same in every font. A state is always a glyph and a word. */
import type { ReactNode } from 'react'

const line = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.5,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const
const ring = <circle cx="6" cy="6" r="4.25" {...line} />
const cross = <path d="m2.8 2.8 6.4 6.4m0-6.4L2.8 9.2" {...line} strokeWidth={1.75} />
const play = <path d="M3 1.8v8.4L10.2 6Z" fill="currentColor" />

const glyphs = {
  pending: (
    <>
      <circle cx="6" cy="6" r="4.5" {...line} />
      <path d="M6 6V1.5A4.5 4.5 0 0 1 10.5 6Z" fill="currentColor" />
    </>
  ),
  available: ring,
  claimed: (
    <>
      {ring}
      <path d="M6 1.75a4.25 4.25 0 0 0 0 8.5Z" fill="currentColor" />
    </>
  ),
  running: play,
  succeeded: <path d="M2 6.4 4.8 9.2 10 3" {...line} strokeWidth={1.75} />,
  failed: cross,
  cancelled: (
    <>
      {ring}
      <path d="m3.2 8.8 5.6-5.6" {...line} />
    </>
  ),
  expired: (
    <path d="M3 1.5h6M3 10.5h6M3.7 1.5c0 3 4.6 3.6 4.6 9M8.3 1.5c0 3-4.6 3.6-4.6 9" {...line} strokeWidth={1.3} />
  ),
  skipped: <path d="M1.5 8.5a4 4 0 0 1 8-.5M9.8 4.8v3.4H6.6" {...line} />,
  alive: <circle cx="6" cy="6" r="4" fill="currentColor" />,
  draining: (
    <>
      {ring}
      <path d="M1.75 6a4.25 4.25 0 0 0 8.5 0Z" fill="currentColor" />
    </>
  ),
  lost: <path d="m2.4 2.4 7.2 7.2m0-7.2L2.4 9.6" fill="none" stroke="currentColor" strokeWidth={2.6} />,
  stopped: <rect x="2.5" y="2.5" width="7" height="7" rx="1" {...line} />,
  stopping: <rect x="2.5" y="2.5" width="7" height="7" rx="1" fill="currentColor" />,
  paused: <path d="M3.9 2.2v7.6M8.1 2.2v7.6" {...line} strokeWidth={2} />,
  grows: <path d="M6 10V2.4M2.8 5.4 6 2.2l3.2 3.2" {...line} />,
  bang: <path d="M6 1.5v5.2M6 9.7v.6" {...line} strokeWidth={2} />,
  refused: (
    <>
      <path d="M6 1.2 10 2.6v3.1c0 2.4-1.6 4.2-4 5.1-2.4-.9-4-2.7-4-5.1V2.6Z" {...line} strokeWidth={1.4} />
      <path d="m4.6 4.6 2.8 2.8m0-2.8L4.6 7.4" {...line} strokeWidth={1.3} />
    </>
  ),
  takeover: <path d="M1.5 6h8M6.6 3 9.6 6 6.6 9" {...line} strokeWidth={1.6} />,
  diamond: <path d="M6 1.8 10.2 6 6 10.2 1.8 6Z" {...line} strokeWidth={1.4} />,
  dot: <circle cx="6" cy="6" r="2" fill="currentColor" />,
  copy: <path d="M4 4V1.8h6.2V8H8M1.8 4H8v6.2H1.8Z" {...line} strokeWidth={1.2} />,
  close: cross,
  open: <path d="m2.5 4.2 3.5 3.6 3.5-3.6" {...line} />,
  shut: <path d="m4.2 2.5 3.6 3.5-3.6 3.5" {...line} />,
} satisfies Record<string, ReactNode>

export type GlyphName = keyof typeof glyphs

export function Glyph({ name }: { readonly name: GlyphName }): ReactNode {
  return (
    <svg viewBox="0 0 12 12" className="g" aria-hidden="true">
      {glyphs[name]}
    </svg>
  )
}

/** The shapes alone, for use inside another drawing. */
export function glyphShapes(name: GlyphName): ReactNode {
  return glyphs[name]
}
