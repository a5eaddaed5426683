/** Moving and zooming a drawing with pointer, wheel and pinch: the view box is the state. */
import { useEffect, useRef, useState, type MouseEvent, type PointerEvent, type RefObject } from 'react'

interface View {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PanZoom {
  readonly ref: RefObject<SVGSVGElement | null>
  readonly viewBox: string
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent<SVGSVGElement>) => void
    readonly onPointerMove: (event: PointerEvent<SVGSVGElement>) => void
    readonly onPointerUp: (event: PointerEvent<SVGSVGElement>) => void
    readonly onPointerCancel: (event: PointerEvent<SVGSVGElement>) => void
    readonly onPointerLeave: (event: PointerEvent<SVGSVGElement>) => void
    readonly onClickCapture: (event: MouseEvent<SVGSVGElement>) => void
  }
  readonly zoom: (factor: number) => void
  readonly fit: () => void
}

const zoomMax = 3
/** A pointer that moved by fewer pixels clicked. */
const clickMovesMax = 6

export function usePanZoom(size: Size, screenWidth: number): PanZoom {
  const ref = useRef<SVGSVGElement>(null)
  const whole = wholeView(size, screenWidth)
  const [view, setView] = useState<View>()
  /** How far the pointers moved since one went down: a drag that ends on a step does not open it. */
  const dragged = useRef(0)
  const pointers = useRef(new Map<number, { x: number; y: number }>())
  const shown = view ?? whole
  const zoomAt = (factor: number, px: number, py: number) =>
    setView((before) => {
      const from = before ?? whole
      const width = Math.min(whole.width * 2, Math.max(whole.width / 12, from.width * factor))
      const real = Math.max(width / from.width, 1 / zoomMax / 4)
      return {
        x: from.x + (from.width - from.width * real) * px,
        y: from.y + (from.height - from.height * real) * py,
        width: from.width * real,
        height: from.height * real,
      }
    })
  useEffect(() => {
    const element = ref.current
    // Without a modifier the wheel scrolls the page, as a person expects.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const box = (event.currentTarget as Element).getBoundingClientRect()
      zoomAt(
        event.deltaY > 0 ? 1.1 : 0.9,
        (event.clientX - box.left) / box.width,
        (event.clientY - box.top) / box.height,
      )
    }
    element?.addEventListener('wheel', wheel, { passive: false })
    return () => element?.removeEventListener('wheel', wheel)
  })
  const release = (event: PointerEvent<SVGSVGElement>) => void pointers.current.delete(event.pointerId)
  return {
    ref,
    viewBox: `${shown.x} ${shown.y} ${shown.width} ${shown.height}`,
    zoom: (factor) => zoomAt(factor, 0.5, 0.5),
    fit: () => setView(undefined),
    handlers: {
      onPointerDown(event) {
        dragged.current = 0
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
      },
      onPointerUp: release,
      onPointerCancel: release,
      // The pointer is not captured; one that is let go outside would go on to drag.
      onPointerLeave: release,
      onClickCapture: (event) => dragged.current > clickMovesMax && event.stopPropagation(),
      onPointerMove(event) {
        const before = pointers.current.get(event.pointerId)
        if (before === undefined) return
        const [dx, dy] = [event.clientX - before.x, event.clientY - before.y]
        dragged.current += Math.abs(dx) + Math.abs(dy)
        const scale = shown.width / event.currentTarget.clientWidth
        const others = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at)
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
        const [other] = others
        if (other === undefined) return setView({ ...shown, x: shown.x - dx * scale, y: shown.y - dy * scale })
        const distance = (at: { x: number; y: number }) => Math.hypot(at.x - other.x, at.y - other.y)
        zoomAt(distance(before) / Math.max(1, distance({ x: event.clientX, y: event.clientY })), 0.5, 0.5)
      },
    },
  }
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Steps on a screen are at least this part of their size; a larger drawing is moved instead. */
const smallest = 0.72

/** The whole drawing: never larger than its size, and never so small that it cannot be read. */
function wholeView({ width, height }: Size, screenWidth: number): View {
  const most = screenWidth / smallest
  const w = Math.min(Math.max(width, screenWidth), most)
  const h = Math.max(height, 200)
  return { x: width > w ? 0 : (width - w) / 2, y: (height - h) / 2, width: w, height: h }
}
