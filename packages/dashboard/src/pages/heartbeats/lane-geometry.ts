/** Where the lanes of nodes, their gaps and their marks are drawn. Pure; times are milliseconds. */
import type { HeartbeatLane, LaneMark } from '../../api/contract.ts'

export interface Span {
  readonly x: number
  readonly width: number
}
export interface PlacedLane {
  readonly lane: HeartbeatLane
  readonly span: Span
  readonly gaps: readonly (Span & { readonly ms: number; readonly isStale: boolean })[]
  readonly marks: readonly { readonly x: number; readonly mark: LaneMark }[]
}

export interface Window {
  readonly from: number
  readonly to: number
  /** The pixels that the window is drawn on. */
  readonly left: number
  readonly width: number
}

const gapMin = 2

export function placedLanes(lanes: readonly HeartbeatLane[], window: Window): PlacedLane[] {
  const x = (at: number) =>
    window.left +
    (Math.min(window.to, Math.max(window.from, at)) - window.from) * (window.width / (window.to - window.from))
  const span = (from: string, to: string): Span => ({
    x: x(Date.parse(from)),
    width: Math.max(1, x(Date.parse(to)) - x(Date.parse(from))),
  })
  return lanes.map((lane) => ({
    lane,
    span: span(lane.from, lane.to),
    gaps: lane.gaps.map((gap) => {
      const ms = Date.parse(gap.to) - Date.parse(gap.from)
      const at = span(gap.from, gap.to)
      return { ...at, width: Math.max(gapMin, at.width), ms, isStale: ms >= lane.staleAfterMs }
    }),
    marks: lane.marks
      .filter(({ at }) => Date.parse(at) >= window.from && Date.parse(at) <= window.to)
      .map((mark) => ({ x: x(Date.parse(mark.at)), mark })),
  }))
}
